#include "report/study_csv.hpp"

#include <functional>

#include <fmt/format.h>

namespace goblin::report {
namespace {

/// Calls `write` for every finalist and seed, with what begins its row: study, world and contender.
void for_each_outcome(std::span<const NamedStudy> studies,
                      const std::function<void(const std::string& begin, const experiment::Entry& entry,
                                               const experiment::Finalist& finalist, std::uint64_t seed,
                                               const experiment::Outcome& outcome)>& write) {
  for (const auto& [name, study] : studies) {
    for (const auto& entry : study->entries) {
      const std::string begin = fmt::format("{},{},{}", name, study->study.condition.key, entry.name);
      for (const auto& finalist : entry.finalists) {
        for (std::size_t k = 0; k < finalist.outcomes.size(); ++k) {
          write(begin, entry, finalist, study->study.evaluation_seeds[k], finalist.outcomes[k]);
        }
      }
    }
  }
}

}  // namespace

std::string or_empty(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string setting_fields(const experiment::Setting& setting) {
  std::string options;
  for (const auto& [option, value] : experiment::options_of(setting)) {
    options += fmt::format("{}{} {}", options.empty() ? "" : "; ", option, value);
  }
  return fmt::format("{},{},{},{},{},{}", goblin::name_of(setting.policy),
                     setting.printed_bound || setting.exploration ? "" : fmt::format("{}", setting.alpha),
                     setting.scale, experiment::name_of(setting.grouping), experiment::exploration_of(setting),
                     options);
}

void write_study_results(std::ostream& out, std::span<const NamedStudy> studies) {
  out << fmt::format(
      "study,world,contender,role,{},seed,rounds,reward,random_reward,normalized_reward,regret,regret_bound,"
      "log_determinant\n",
      setting_columns);
  for_each_outcome(studies, [&out](const std::string& begin, const experiment::Entry& entry,
                                   const experiment::Finalist& finalist, std::uint64_t seed,
                                   const experiment::Outcome& outcome) {
    const auto& last = outcome.last();
    const char* role = &finalist == &entry.tuned() ? "tuned" : &finalist == &entry.hindsight() ? "hindsight" : "other";
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", begin, role, setting_fields(finalist.setting), seed,
                       last.round, last.reward, last.random_reward, last.normalized_reward(), or_empty(last.regret),
                       or_empty(last.regret_bound), last.log_determinant);
  });
}

void write_study_costs(std::ostream& out, std::span<const NamedStudy> studies) {
  out << fmt::format("study,world,contender,{},seed,seconds,bytes\n", setting_columns);
  for_each_outcome(
      studies, [&out](const std::string& begin, const experiment::Entry& /*entry*/,
                      const experiment::Finalist& finalist, std::uint64_t seed, const experiment::Outcome& outcome) {
        if (!outcome.seconds) return;
        out << fmt::format("{},{},{},{:.6f},{}\n", begin, setting_fields(finalist.setting), seed, *outcome.seconds,
                           outcome.bytes ? fmt::format("{}", *outcome.bytes) : "");
      });
}

}  // namespace goblin::report
