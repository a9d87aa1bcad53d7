#include "goblin/experiment/study.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

void check(const Study& study) {
  const auto fail = [&](const char* what) {
    throw std::invalid_argument(fmt::format("study {}: {}", study.condition.key, what));
  };
  if (study.evaluation_seeds.empty()) fail("no evaluation seeds (must be at least 1)");
  if (study.finalists == 0) fail("no finalists (must be at least 1)");
  for (const Contender& contender : study.contenders) {
    const auto settings = contender.settings().size();
    if (settings == 0) fail("a contender without settings (must be at least 1)");
    if (settings > 1 && study.tuning_seeds.empty()) fail("no tuning seeds (must be at least 1)");
  }
  for (const std::uint64_t seed : study.evaluation_seeds) {
    if (std::find(study.tuning_seeds.begin(), study.tuning_seeds.end(), seed) != study.tuning_seeds.end()) {
      fail("a seed for tuning and for evaluation (must be different ones)");
    }
  }
}

/// The settings of a contender that are to be tuned: none if there is only one.
std::vector<Setting> tuned_settings(const Contender& contender) {
  auto settings = contender.settings();
  if (settings.size() < 2) settings.clear();
  return settings;
}

std::size_t finalist_count(const Study& study, const Contender& contender) {
  return std::min(study.finalists, contender.settings().size());
}

/// The outcomes of cells come back in their order: this hands them out.
class Dealer {
 public:
  explicit Dealer(std::vector<Outcome> outcomes) : outcomes_(std::move(outcomes)) {}
  Outcome next() { return std::move(outcomes_[next_++]); }

 private:
  std::vector<Outcome> outcomes_;
  std::size_t next_ = 0;
};

std::vector<Cell> tuning_cells(std::span<const Study> studies) {
  std::vector<Cell> cells;
  for (const Study& study : studies) {
    for (const Contender& contender : study.contenders) {
      for (const Setting& setting : tuned_settings(contender)) {
        for (const std::uint64_t seed : study.tuning_seeds) {
          cells.push_back({&study.condition, setting, seed, study.tuning_rounds});
        }
      }
    }
  }
  return cells;
}

/// The settings that did best; their outcomes are still to come.
std::vector<Finalist> choose(const Study& study, const Contender& contender, Dealer& tuned) {
  std::vector<Finalist> all;
  for (const Setting& setting : contender.settings()) all.push_back({.setting = setting, .tuning = {}, .outcomes = {}});
  if (all.size() > 1) {
    for (Finalist& each : all) {
      double sum = 0.0;
      for (std::size_t k = 0; k < study.tuning_seeds.size(); ++k) sum += tuned.next().normalized_reward();
      each.tuning = sum / static_cast<double>(study.tuning_seeds.size());
    }
    std::stable_sort(all.begin(), all.end(), [](const Finalist& a, const Finalist& b) { return a.tuning > b.tuning; });
  }
  all.resize(finalist_count(study, contender));
  return all;
}

}  // namespace

std::vector<Setting> Contender::settings() const {
  if (!given.empty()) return given;
  std::vector<Setting> settings;
  for (const Grouping& grouping : groupings) {
    for (const double scale : scales) {
      for (const double alpha : alphas) {
        settings.push_back(
            {.policy = policy, .alpha = alpha, .scale = scale, .grouping = grouping, .printed_bound = printed_bound});
      }
    }
  }
  return settings;
}

Estimate Finalist::estimate() const {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(outcome.normalized_reward());
  return experiment::estimate(values);
}

const Finalist& Entry::hindsight() const {
  return *std::max_element(finalists.begin(), finalists.end(),
                           [](const Finalist& a, const Finalist& b) { return a.estimate().mean < b.estimate().mean; });
}

const Entry& StudyResult::entry(std::string_view name) const {
  for (const Entry& each : entries) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument(fmt::format("entry: {} (not in study {})", name, study.condition.key));
}

std::size_t cell_count(std::span<const Study> studies) {
  std::size_t count = tuning_cells(studies).size();
  for (const Study& study : studies) {
    for (const Contender& contender : study.contenders) {
      count += finalist_count(study, contender) * study.evaluation_seeds.size();
    }
  }
  return count;
}

std::vector<Condition> conditions_of(std::span<const Study> studies) {
  std::vector<Condition> conditions;
  for (const Study& study : studies) {
    const auto is_it = [&](const Condition& each) { return each.key == study.condition.key; };
    if (std::none_of(conditions.begin(), conditions.end(), is_it)) conditions.push_back(study.condition);
  }
  return conditions;
}

std::optional<std::vector<StudyResult>> run_studies(std::span<const Study> studies, const CellStore& store,
                                                    const RunOptions& options) {
  for (const Study& study : studies) check(study);
  auto outcomes = run_cells(tuning_cells(studies), store, options);
  if (!outcomes) return std::nullopt;
  Dealer tuned(std::move(*outcomes));

  std::vector<StudyResult> results;
  std::vector<Cell> cells;
  for (const Study& study : studies) {
    StudyResult result{.study = study, .entries = {}};
    for (const Contender& contender : study.contenders) {
      result.entries.push_back({.name = contender.name, .finalists = choose(study, contender, tuned)});
      for (const Finalist& finalist : result.entries.back().finalists) {
        for (const std::uint64_t seed : study.evaluation_seeds) {
          cells.push_back({&study.condition, finalist.setting, seed, study.rounds});
        }
      }
    }
    results.push_back(std::move(result));
  }
  outcomes = run_cells(cells, store, options);
  if (!outcomes) return std::nullopt;
  Dealer evaluated(std::move(*outcomes));
  for (StudyResult& result : results) {
    for (Entry& entry : result.entries) {
      for (Finalist& finalist : entry.finalists) {
        for (std::size_t k = 0; k < result.study.evaluation_seeds.size(); ++k) {
          finalist.outcomes.push_back(evaluated.next());
        }
      }
    }
  }
  return results;
}

}  // namespace goblin::experiment
