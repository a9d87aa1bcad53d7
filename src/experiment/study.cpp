#include "goblin/experiment/study.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

std::size_t finalist_count(const Study& study, const Contender& contender) {
  return std::min(study.finalists, contender.settings().size());
}

/// How many tuning seeds all settings play; the others are for the best of them.
std::size_t first_tuning_seeds(const Study& study) {
  return study.in_heats ? std::min<std::size_t>(1, study.tuning_seeds.size()) : study.tuning_seeds.size();
}

/// How many settings play the other tuning seeds.
std::size_t second_heat_size(std::size_t settings) {
  constexpr std::size_t fewest = 3;
  return std::min(settings, std::max(fewest, (settings + 3) / 4));
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

/// The settings of one contender while they are tuned, the best so far first.
class Tuning {
 public:
  Tuning(const Study& study, const Contender& contender) : study_(study), contender_(contender) {
    for (const Setting& setting : contender.settings()) {
      tried_.push_back({.finalist = {.setting = setting, .tuning = {}, .outcomes = {}}});
    }
  }

  /// Those of a heat, the first or the second; none where there is nothing to choose.
  void add_cells(std::size_t heat, std::vector<Cell>& cells) const {
    for (std::size_t k = 0; k < size_of(heat); ++k) {
      for (const std::uint64_t seed : seeds_of(heat)) {
        cells.push_back({&study_.condition, tried_[k].finalist.setting, seed, study_.tuning_rounds});
      }
    }
  }
  /// In the order of the cells.
  void take(std::size_t heat, Dealer& outcomes) {
    const std::size_t count = seeds_of(heat).empty() ? 0 : size_of(heat);
    for (std::size_t k = 0; k < count; ++k) {
      Tried& each = tried_[k];
      for (std::size_t seed = 0; seed < seeds_of(heat).size(); ++seed) each.sum += outcomes.next().normalized_reward();
      each.seeds += seeds_of(heat).size();
      each.finalist.tuning = each.sum / static_cast<double>(each.seeds);
    }
    std::stable_sort(tried_.begin(), tried_.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const Tried& a, const Tried& b) { return a.finalist.tuning > b.finalist.tuning; });
  }
  /// The settings that did best; their outcomes are still to come.
  [[nodiscard]] std::vector<Finalist> finalists() const {
    std::vector<Finalist> best;
    for (std::size_t k = 0; k < finalist_count(study_, contender_); ++k) best.push_back(tried_[k].finalist);
    return best;
  }

 private:
  struct Tried {
    Finalist finalist;
    double sum = 0.0;
    std::size_t seeds = 0;
  };

  [[nodiscard]] std::size_t size_of(std::size_t heat) const {
    if (tried_.size() < 2) return 0;
    return heat == 0 ? tried_.size() : second_heat_size(tried_.size());
  }
  [[nodiscard]] std::span<const std::uint64_t> seeds_of(std::size_t heat) const {
    const std::span<const std::uint64_t> seeds = study_.tuning_seeds;
    return heat == 0 ? seeds.first(first_tuning_seeds(study_)) : seeds.subspan(first_tuning_seeds(study_));
  }

  const Study& study_;
  const Contender& contender_;
  std::vector<Tried> tried_;
};

/// How many finalists behind the first play all evaluation seeds.
std::size_t hindsight_size(std::size_t others) {
  constexpr std::size_t fewest = 3;
  return std::min(others, std::max(fewest, (others + 2) / 3));
}

/// The finalists of one contender on the evaluation seeds.
class Evaluation {
 public:
  Evaluation(const Study& study, Entry& entry) : study_(study), entry_(entry) {
    for (std::size_t k = 1; k < entry.finalists.size(); ++k) best_.push_back(k);
  }

  void add_cells(std::size_t heat, std::vector<Cell>& cells) const {
    for_each(heat, [&](const Finalist& finalist, std::uint64_t seed) {
      cells.push_back({&study_.condition, finalist.setting, seed, study_.rounds});
    });
  }
  /// In the order of the cells.
  void take(std::size_t heat, Dealer& outcomes) {
    for_each(heat, [&](Finalist& finalist, std::uint64_t) { finalist.outcomes.push_back(outcomes.next()); });
    if (heat > 0) return;
    std::vector<double> means(entry_.finalists.size());
    for (const std::size_t k : best_) means[k] = entry_.finalists[k].estimate().mean;
    std::stable_sort(best_.begin(), best_.end(), [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
  }

 private:
  /// Calls visit(finalist, seed) for what a heat has.
  template <typename Visit>
  void for_each(std::size_t heat, Visit visit) const {
    const std::span<const std::uint64_t> seeds = study_.evaluation_seeds;
    const std::size_t first =
        study_.first_heat_seeds == 0 ? seeds.size() : std::min(study_.first_heat_seeds, seeds.size());
    if (heat == 0) {
      for (const std::uint64_t seed : seeds) visit(entry_.finalists.front(), seed);
    }
    const std::size_t count = heat == 0 ? best_.size() : hindsight_size(best_.size());
    for (std::size_t k = 0; k < count; ++k) {
      for (const std::uint64_t seed : heat == 0 ? seeds.first(first) : seeds.subspan(first)) {
        visit(entry_.finalists[best_[k]], seed);
      }
    }
  }

  const Study& study_;
  Entry& entry_;
  std::vector<std::size_t> best_;  // places of all finalists behind the first, the best so far first
};

std::vector<Tuning> tunings_of(std::span<const Study> studies) {
  std::vector<Tuning> tunings;
  for (const Study& study : studies) {
    for (const Contender& contender : study.contenders) tunings.emplace_back(study, contender);
  }
  return tunings;
}

std::vector<Cell> tuning_cells(std::span<const Tuning> tunings, std::size_t heat) {
  std::vector<Cell> cells;
  for (const Tuning& tuning : tunings) tuning.add_cells(heat, cells);
  return cells;
}

constexpr std::size_t heats = 2;

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
  return *std::max_element(finalists.begin(), finalists.end(), [](const Finalist& a, const Finalist& b) {
    return std::pair(a.outcomes.size(), a.estimate().mean) < std::pair(b.outcomes.size(), b.estimate().mean);
  });
}

const Entry& StudyResult::entry(std::string_view name) const {
  for (const Entry& each : entries) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument(fmt::format("entry: {} (not in study {})", name, study.condition.key));
}

std::size_t cell_count(std::span<const Study> studies) {
  const std::vector<Tuning> tunings = tunings_of(studies);
  std::size_t count = 0;
  for (std::size_t heat = 0; heat < heats; ++heat) count += tuning_cells(tunings, heat).size();
  for (const Study& study : studies) {
    const std::size_t seeds = study.evaluation_seeds.size();
    const std::size_t first = study.first_heat_seeds == 0 ? seeds : std::min(study.first_heat_seeds, seeds);
    for (const Contender& contender : study.contenders) {
      const std::size_t others = finalist_count(study, contender) - 1;
      count += seeds + others * first + hindsight_size(others) * (seeds - first);
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
  std::vector<Tuning> tunings = tunings_of(studies);
  for (std::size_t heat = 0; heat < heats; ++heat) {
    auto outcomes = run_cells(tuning_cells(tunings, heat), store, options);
    if (!outcomes) return std::nullopt;
    Dealer tuned(std::move(*outcomes));
    for (Tuning& tuning : tunings) tuning.take(heat, tuned);
  }

  auto tuned = tunings.begin();
  std::vector<StudyResult> results;
  for (const Study& study : studies) {
    results.push_back({.study = study, .entries = {}});
    for (const Contender& contender : study.contenders) {
      results.back().entries.push_back({.name = contender.name, .finalists = (tuned++)->finalists()});
    }
  }
  std::vector<Evaluation> evaluations;
  for (StudyResult& result : results) {
    for (Entry& entry : result.entries) evaluations.emplace_back(result.study, entry);
  }
  for (std::size_t heat = 0; heat < heats; ++heat) {
    std::vector<Cell> cells;
    for (const Evaluation& each : evaluations) each.add_cells(heat, cells);
    auto outcomes = run_cells(cells, store, options);
    if (!outcomes) return std::nullopt;
    Dealer evaluated(std::move(*outcomes));
    for (Evaluation& each : evaluations) each.take(heat, evaluated);
  }
  return results;
}

}  // namespace goblin::experiment
