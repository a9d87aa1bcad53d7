#include "goblin/experiment/paper.hpp"

#include "experiment/conditions.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::experiment::paper {
namespace {

/// What the full and the quick run differ in.
struct Sizes {
  std::uint64_t rounds;
  std::size_t tuning_seeds;
  std::size_t grid_seeds;
  std::size_t curve_seeds;
  std::size_t theorem_seeds;
  std::size_t dataset_seeds;
  std::size_t trade_off_seeds;
  std::size_t finalists;
  std::vector<double> alphas;
  std::vector<double> dataset_scales;
  std::vector<std::size_t> clique_clusters;
  std::size_t curve_steps;
  std::vector<std::size_t> macro_sizes;
  std::vector<std::size_t> block_sizes;
  std::vector<std::size_t> cluster_counts;
};

const Sizes full{.rounds = 10'000,
                 .tuning_seeds = 2,
                 .grid_seeds = 10,
                 .curve_seeds = 10,
                 .theorem_seeds = 3,
                 .dataset_seeds = 10,
                 .trade_off_seeds = 3,
                 .finalists = Study::every_setting,
                 .alphas = {0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0},
                 .dataset_scales = {0.1, 0.3, 1.0, 3.0},
                 .clique_clusters = {4, 10, 20},
                 .curve_steps = 10,
                 .macro_sizes = {50, 100, 200},
                 .block_sizes = {5, 10, 20},
                 .cluster_counts = {5, 10, 20, 50, 100, 200, 500}};

const Sizes quick{.rounds = 2'000,
                  .tuning_seeds = 1,
                  .grid_seeds = 5,
                  .curve_seeds = 3,
                  .theorem_seeds = 2,
                  .dataset_seeds = 3,
                  .trade_off_seeds = 1,
                  .finalists = Study::every_setting,
                  .alphas = {0.0, 0.03, 0.1, 0.3},
                  .dataset_scales = {0.3, 1.0},
                  .clique_clusters = {4},
                  .curve_steps = 4,
                  .macro_sizes = {50, 200},
                  .block_sizes = {5, 20},
                  .cluster_counts = {10, 50, 200}};

constexpr double curve_payoff_noise = 0.25;
/// Evaluation seeds that every setting of the grid plays, for the best in hindsight.
constexpr std::size_t first_heat_seeds = 3;

/// Each number as the given field of a grouping.
std::vector<Grouping> groupings_of(const std::vector<std::size_t>& numbers, std::size_t Grouping::*field,
                                   bool balanced = false) {
  std::vector<Grouping> groupings(numbers.size(), Grouping{.balanced = balanced});
  for (std::size_t k = 0; k < numbers.size(); ++k) groupings[k].*field = numbers[k];
  return groupings;
}

/// The studies of one run share seeds and rounds.
class Planner {
 public:
  explicit Planner(const Options& options)
      : options_(options), sizes_(options.quick ? quick : full), rounds_(options.rounds.value_or(sizes_.rounds)) {
    if (rounds_ < 2) throw std::invalid_argument(fmt::format("rounds: {} (must be at least 2)", rounds_));
    if (options.seeds && *options.seeds < 2) {
      throw std::invalid_argument(fmt::format("seeds: {} (must be at least 2)", *options.seeds));
    }
  }

  [[nodiscard]] Plan plan() const {
    Plan plan{.options = options_,
              .grid = {},
              .curve = {},
              .theorem = {},
              .datasets = {},
              .others = {},
              .cluster_counts = {}};
    if (options_.cliques) {
      for (const double graph_noise : {0.0, 100.0, 250.0, 500.0}) {
        for (const double payoff_noise : {0.0, 0.25, 0.5}) {
          plan.grid.push_back({graph_noise, payoff_noise,
                               study("4cliques", "4Cliques", cliques(graph_noise, payoff_noise), clique_contenders(),
                                     sizes_.grid_seeds)});
        }
      }
      for (std::size_t step = 0; step <= sizes_.curve_steps; ++step) {
        const double graph_noise = clique_edges * static_cast<double>(step) / static_cast<double>(sizes_.curve_steps);
        Study at = study("4cliques", "4Cliques", cliques(graph_noise, curve_payoff_noise), clique_contenders(),
                         sizes_.curve_seeds);
        std::erase_if(at.contenders, [](const Contender& each) {
          return each.policy == Policy::linucb_sin || each.policy == Policy::linucb_ind;
        });
        at.finalists = 1;
        plan.curve.push_back({graph_noise, curve_payoff_noise, std::move(at)});
      }
      plan.theorem.push_back(theorem("4cliques", "4Cliques without noise", cliques(0.0, 0.0)));
    }
    if (options_.lastfm)
      plan.theorem.push_back(
          theorem("lastfm", "a linear world over Last.fm's graph", linear_over("lastfm", options_.lastfm)));
    plan.datasets = dataset_studies(options_.lastfm, options_.delicious);
    for (const OtherReading& other : options_.others) {
      plan.others.push_back({other.name, dataset_studies(other.lastfm, other.delicious)});
      for (Study& each : plan.others.back().datasets) as_other_reading(each);
    }
    plan.cluster_counts = sizes_.cluster_counts;
    plan.trade_off_seeds = sizes_.trade_off_seeds;
    return plan;
  }

 private:
  using Data = std::shared_ptr<const data::Dataset>;

  [[nodiscard]] std::vector<Study> dataset_studies(const Data& lastfm, const Data& delicious) const {
    std::vector<Study> studies;
    const auto add = [&](std::string_view name, std::string_view title, const Data& data) {
      if (!data) return;
      // Where the length of contexts is fixed, there is no scale to tune.
      const auto scales = data->contexts.unit_length ? std::vector{1.0} : sizes_.dataset_scales;
      studies.push_back(study(name, title, catalogue(name, data), dataset_contenders(scales), sizes_.dataset_seeds));
    };
    add("lastfm", "Last.fm", lastfm);
    add("delicious", "Delicious", delicious);
    return studies;
  }

  /// Beside the main reading, the others show verdicts of the tuned settings: they need no hindsight, and nobody looks
  /// at how the rest tuned. The two kinds of clusters are compared once.
  static void as_other_reading(Study& study) {
    study.finalists = 1;
    study.in_heats = true;
    std::erase_if(study.contenders, [](const Contender& each) { return each.groupings.front().balanced; });
  }

  [[nodiscard]] Study study(std::string_view name, std::string_view title, Condition condition,
                            std::vector<Contender> contenders, std::size_t seeds) const {
    return {.name = std::string(name),
            .title = std::string(title),
            .condition = std::move(condition),
            .contenders = std::move(contenders),
            .tuning_seeds = seeds_from(first_tuning_seed, sizes_.tuning_seeds),
            .evaluation_seeds = seeds_from(1, options_.seeds.value_or(seeds)),
            .tuning_rounds = rounds_ / 2,
            .rounds = rounds_,
            .finalists = sizes_.finalists,
            .first_heat_seeds = first_heat_seeds};
  }

  [[nodiscard]] Study theorem(std::string_view name, std::string_view title, Condition condition) const {
    std::vector<Contender> contenders;
    for (const Policy policy : {Policy::linucb_ind, Policy::gob_lin}) {
      contenders.push_back(
          {.name = std::string(name_of(policy)), .policy = policy, .alphas = {0.0}, .printed_bound = true});
    }
    contenders.push_back({.name = std::string(simplified_width), .policy = Policy::gob_lin, .alphas = sizes_.alphas});
    Study result = study(name, title, std::move(condition), std::move(contenders), sizes_.theorem_seeds);
    result.evaluation_seeds = seeds_from(1, sizes_.theorem_seeds);
    return result;
  }

  [[nodiscard]] Contender contender(Policy policy, std::string_view reading, const std::vector<double>& scales,
                                    std::vector<Grouping> groupings) const {
    return {.name = fmt::format("{}{}", name_of(policy), reading),
            .policy = policy,
            .alphas = sizes_.alphas,
            .scales = scales,
            .groupings = std::move(groupings)};
  }

  /// Contexts on 4Cliques have length 1: no scale is tuned.
  [[nodiscard]] std::vector<Contender> clique_contenders() const {
    std::vector<Contender> contenders;
    for (const Policy policy : paper_policies) {
      const auto groupings = uses_clusters(policy) ? groupings_of(sizes_.clique_clusters, &Grouping::clusters)
                                                   : std::vector<Grouping>{Grouping{}};
      contenders.push_back(contender(policy, "", {1.0}, groupings));
    }
    return contenders;
  }

  [[nodiscard]] std::vector<Contender> dataset_contenders(const std::vector<double>& scales) const {
    std::vector<Contender> contenders;
    for (const Policy policy : paper_policies) {
      if (!uses_clusters(policy)) {
        contenders.push_back(contender(policy, "", scales, {Grouping{}}));
        continue;
      }
      const auto& numbers = policy == Policy::gob_lin_macro ? sizes_.macro_sizes : sizes_.block_sizes;
      contenders.push_back(contender(policy, by_number, scales, groupings_of(numbers, &Grouping::clusters)));
      contenders.push_back(contender(policy, by_size, scales, groupings_of(numbers, &Grouping::cluster_size)));
      contenders.push_back(
          contender(policy, by_number_balanced, scales, groupings_of(numbers, &Grouping::clusters, true)));
      contenders.push_back(
          contender(policy, by_size_balanced, scales, groupings_of(numbers, &Grouping::cluster_size, true)));
    }
    return contenders;
  }

  Options options_;
  const Sizes& sizes_;
  std::uint64_t rounds_;
};

/// The studies one after the other, to be run as one sweep.
std::vector<Study> all_studies(const Plan& plan) {
  std::vector<Study> studies;
  for (const GridStudy& each : plan.grid) studies.push_back(each.study);
  for (const GridStudy& each : plan.curve) studies.push_back(each.study);
  studies.insert(studies.end(), plan.theorem.begin(), plan.theorem.end());
  studies.insert(studies.end(), plan.datasets.begin(), plan.datasets.end());
  for (const ReadingStudies& other : plan.others) {
    studies.insert(studies.end(), other.datasets.begin(), other.datasets.end());
  }
  return studies;
}

std::size_t users_of(const Study& study) {
  return study.condition.world_at(study.evaluation_seeds.front())->graph().node_count();
}

Study trade_off_of(const DatasetResult& dataset, const Plan& plan) {
  Study study = dataset.result.study;
  study.contenders.clear();
  study.evaluation_seeds.resize(std::min(study.evaluation_seeds.size(), plan.trade_off_seeds));
  study.finalists = 1;
  for (const Policy policy : paper_policies) {
    if (!uses_clusters(policy)) continue;
    const Setting& setting = dataset.entry(name_of(policy)).tuned().setting;
    for (const std::size_t count : plan.cluster_counts) {
      study.contenders.push_back({.name = fmt::format("{} {}", name_of(policy), count),
                                  .policy = policy,
                                  .alphas = {setting.alpha},
                                  .scales = {setting.scale},
                                  .groupings = {{.clusters = count, .balanced = setting.grouping.balanced}}});
    }
  }
  return study;
}

}  // namespace

Plan plan(const Options& options) { return Planner(options).plan(); }

std::size_t Plan::cell_count() const {
  std::size_t count = experiment::cell_count(all_studies(*this));
  const auto clustered =
      static_cast<std::size_t>(std::count_if(paper_policies.begin(), paper_policies.end(), uses_clusters));
  for (const Study& study : datasets) {
    count += clustered * cluster_counts.size() * std::min(study.evaluation_seeds.size(), trade_off_seeds);
  }
  return count;
}

std::vector<Condition> Plan::conditions() const { return conditions_of(all_studies(*this)); }

const Entry& DatasetResult::entry(std::string_view policy) const {
  const Entry* best = nullptr;
  for (const Entry& each : result.entries) {
    const bool is_it = each.name == policy || each.name.starts_with(fmt::format("{} (", policy));
    if (is_it && (best == nullptr || each.tuned().tuning > best->tuned().tuning)) best = &each;
  }
  if (best == nullptr) throw std::invalid_argument(fmt::format("policy: {} (did not compete)", policy));
  return *best;
}

std::optional<Results> run(const Plan& plan, const CellStore& store, const RunOptions& options) {
  auto results = run_studies(all_studies(plan), store, options);
  if (!results) return std::nullopt;
  auto next = results->begin();
  Results all{.plan = plan, .grid = {}, .curve = {}, .theorem = {}, .datasets = {}, .others = {}};
  for (const GridStudy& each : plan.grid) {
    all.grid.push_back({each.graph_noise, each.payoff_noise, std::move(*next++)});
  }
  for (const GridStudy& each : plan.curve) {
    all.curve.push_back({each.graph_noise, each.payoff_noise, std::move(*next++)});
  }
  for (std::size_t k = 0; k < plan.theorem.size(); ++k) all.theorem.push_back(std::move(*next++));
  std::vector<Study> trade_offs;
  for (std::size_t k = 0; k < plan.datasets.size(); ++k) {
    all.datasets.push_back({.result = std::move(*next++), .users = users_of(plan.datasets[k]), .trade_off = {}});
    trade_offs.push_back(trade_off_of(all.datasets.back(), plan));
  }
  for (const ReadingStudies& other : plan.others) {
    all.others.push_back({.name = other.name, .datasets = {}});
    for (const Study& study : other.datasets) {
      all.others.back().datasets.push_back({.result = std::move(*next++), .users = users_of(study), .trade_off = {}});
    }
  }
  results = run_studies(trade_offs, store, options);
  if (!results) return std::nullopt;
  for (std::size_t k = 0; k < all.datasets.size(); ++k) all.datasets[k].trade_off = std::move((*results)[k]);
  return all;
}

}  // namespace goblin::experiment::paper
