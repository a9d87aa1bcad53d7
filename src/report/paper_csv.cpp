#include "goblin/report/page.hpp"

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::StudyResult;
using experiment::paper::Results;

struct NamedStudy {
  std::string_view name;
  const StudyResult* result;
};

std::vector<NamedStudy> all_studies(const Results& results) {
  std::vector<NamedStudy> studies;
  for (const auto& at : results.grid) studies.push_back({"grid", &at.result});
  for (const auto& at : results.curve) studies.push_back({"graph-noise", &at.result});
  for (const auto& each : results.theorem) studies.push_back({"theorem", &each});
  for (const auto& each : results.datasets) {
    studies.push_back({"dataset", &each.result});
    studies.push_back({"clusters", &each.trade_off});
  }
  return studies;
}

std::string or_empty(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string setting_of(const experiment::Setting& setting) {
  return fmt::format("{},{},{},{}", goblin::name_of(setting.policy),
                     setting.printed_bound || setting.exploration ? "" : fmt::format("{}", setting.alpha),
                     setting.scale, experiment::name_of(setting.grouping));
}

}  // namespace

void write_verdicts_csv(std::ostream& out, const Report& report) {
  out << "claim,choice,verdict,difference,difference_verdict,seeds,mean,standard_error,low,high,unit,text\n";
  const auto write = [&](const std::vector<Claim>& claims, const char* choice) {
    for (const Claim& claim : claims) {
      for (const Difference& each : claim.differences) {
        out << fmt::format("{},{},{},\"{}\",{},{},{},{},{},{},\"{}\",\"{}\"\n", claim.id, choice,
                           name_of(claim.verdict), each.label, name_of(each.verdict), each.by_seed.size(),
                           each.estimate.mean, or_empty(each.estimate.standard_error), each.low, each.high, claim.unit,
                           claim.text);
      }
    }
  };
  write(report.tuned, "tuned");
  write(report.hindsight, "hindsight");
}

void write_results_csv(std::ostream& out, const Results& results) {
  out << "study,world,contender,role,policy,alpha,scale,grouping,seed,rounds,reward,random_reward,normalized_reward,"
         "regret,"
         "regret_bound,log_determinant\n";
  for (const auto& [name, study] : all_studies(results)) {
    for (const auto& entry : study->entries) {
      for (const auto& finalist : entry.finalists) {
        for (std::size_t k = 0; k < finalist.outcomes.size(); ++k) {
          const auto& last = finalist.outcomes[k].last();
          out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name, study->study.condition.key, entry.name,
                             &finalist == &entry.tuned() ? "tuned" : "other", setting_of(finalist.setting),
                             study->study.evaluation_seeds[k], last.round, last.reward, last.random_reward,
                             last.normalized_reward(), or_empty(last.regret), or_empty(last.regret_bound),
                             last.log_determinant);
        }
      }
    }
  }
}

void write_times_csv(std::ostream& out, const Results& results) {
  out << "study,world,contender,policy,alpha,scale,grouping,seed,seconds\n";
  for (const auto& [name, study] : all_studies(results)) {
    for (const auto& entry : study->entries) {
      for (const auto& finalist : entry.finalists) {
        for (std::size_t k = 0; k < finalist.outcomes.size(); ++k) {
          if (!finalist.outcomes[k].seconds) continue;
          out << fmt::format("{},{},{},{},{},{:.6f}\n", name, study->study.condition.key, entry.name,
                             setting_of(finalist.setting), study->study.evaluation_seeds[k],
                             *finalist.outcomes[k].seconds);
        }
      }
    }
  }
}

}  // namespace goblin::report
