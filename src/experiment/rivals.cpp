#include "goblin/experiment/rivals.hpp"

#include "experiment/conditions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::experiment::rivals {
namespace {

/// What the full and the quick run differ in.
struct RunSizes {
  std::uint64_t rounds;
  std::size_t tuning_seeds;
  std::size_t evaluation_seeds;
  std::size_t budget;
  std::vector<double> graph_noises;
  std::vector<double> payoff_noises;
};

const RunSizes full{.rounds = 3'000,
                    .tuning_seeds = 2,
                    .evaluation_seeds = 10,
                    .budget = 16,
                    .graph_noises = {0.0, 100.0, 250.0, 500.0},
                    .payoff_noises = {0.0, 0.25, 0.5}};

const RunSizes quick{.rounds = 300,
                     .tuning_seeds = 1,
                     .evaluation_seeds = 3,
                     .budget = 4,
                     .graph_noises = {0.0, 500.0},
                     .payoff_noises = {0.0, 0.5}};

/// The values that one option of a setting can have, each as what it does to the setting.
using Axis = std::vector<std::function<void(Setting&)>>;

template <typename Value, typename Set>
Axis axis(const std::vector<Value>& values, Set set) {
  Axis result;
  for (const Value& value : values) {
    result.push_back([value, set](Setting& setting) { set(setting, value); });
  }
  return result;
}

/// A contender: the first points of the grid that its axes span.
struct Rival {
  std::string_view question;
  std::string_view name;
  Policy policy;
  std::vector<Axis> axes;
};

/// Each, in the order of the report, with what it asks. gob.lin itself belongs to none of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> questions = {{
    {"graph", "Does the social graph pay?"},
    {"clusters", "Do clusters of the graph, made beforehand, pay?"},
    {"prior", "Does another prior over the same graph pay?"},
    {"online clusters", "Do online clusters pay?"},
    {"hashing", "Does hashing pay?"},
    {"rule", "Does another way to choose pay?"},
    {"forgetting", "Does forgetting pay?"},
}};

/// What the values of some options depend on.
struct Place {
  std::uint64_t rounds;
  bool is_data;  ///< about 1,900 users; else 100
};

/// The one list of contenders. A new one is a new line.
std::vector<Rival> rivals_in(const Place& place) {
  using enum Policy;
  using Counts = std::vector<std::size_t>;
  using Numbers = std::vector<double>;
  const auto rules = [](const Numbers& values, Exploration (*rule)(double)) {
    return axis(values, [rule](Setting& setting, double value) { setting.exploration = rule(value); });
  };
  const auto set_scale = [](Setting& setting, double value) { setting.scale = value; };
  const auto set_clusters = [](Setting& setting, std::size_t value) { setting.grouping.clusters = value; };
  const auto scales = axis(Numbers{0.1, 0.3, 1.0, 3.0}, set_scale);
  Numbers many;
  for (int k = 0; k < 16; ++k) many.push_back(std::round(3000.0 * std::pow(1.5, k)) / 1e5);
  const auto many_scales = axis(many, set_scale);  // for those who have nothing else to tune
  const auto alphas = axis(Numbers{0.0, 0.001, 0.01, 0.03, 0.1, 0.3, 1.0},
                           [](Setting& setting, double value) { setting.alpha = value; });
  const auto macro_clusters = axis(place.is_data ? Counts{50, 100, 200} : Counts{4, 10, 20}, set_clusters);
  const auto block_clusters = axis(place.is_data ? Counts{5, 10, 20} : Counts{4, 10, 20}, set_clusters);
  const auto deviations = rules({0.001, 0.01, 0.03, 0.1, 0.3, 1.0}, Exploration::thompson);
  const auto epsilons = rules({0.001, 0.003, 0.01, 0.03, 0.1, 0.3}, Exploration::epsilon_greedy);
  const auto gammas = rules({10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0}, Exploration::square_cb);
  const Axis greedy = {[](Setting& setting) { setting.exploration = Exploration::greedy(); }};
  const auto noises = axis(Numbers{0.001, 0.01, 0.1, 1.0}, [](Setting& setting, double value) {
    setting.exploration = Exploration::printed_bound({.noise = value});
  });
  const auto norms = axis(Numbers{0.0, 0.01, 0.1, 1.0}, [](Setting& setting, double value) {
    std::get<PrintedBound>(setting.exploration->rule).norm = value;  // after the noise
  });
  const auto hub_weights =
      axis(Numbers{0.1, 0.3, 1.0, 3.0}, [](Setting& setting, double value) { setting.hub.weight = value; });
  const Axis no_friends = {[](Setting& setting) { setting.coupling = 0.0; }};
  const auto separations =
      axis(Numbers{0.2, 0.5, 1.0, 2.0}, [](Setting& setting, double value) { setting.club.separation = value; });
  const Axis random_graph = {[](Setting& setting) { setting.club.graph = ClubGraph::random; }};
  const auto moving_clusters = axis(place.is_data ? Counts{5, 10, 20, 50} : Counts{2, 4, 8, 16},
                                    [](Setting& setting, std::size_t value) { setting.dynucb.clusters = value; });
  const std::size_t sixteenth = std::max<std::size_t>(1, place.rounds / 16);
  const auto windows = axis(Counts{sixteenth, 2 * sixteenth, 4 * sixteenth, 8 * sixteenth},
                            [](Setting& setting, std::size_t value) { setting.forgetting.window = value; });
  const auto discounts =
      axis(Numbers{0.8, 0.9, 0.97, 0.99}, [](Setting& setting, double value) { setting.forgetting.discount = value; });
  const Axis normalized = {[](Setting& setting) { setting.laplacian = Laplacian::normalized; }};
  const auto buckets =
      axis(Counts{128, 256, 512, 1024}, [](Setting& setting, std::size_t value) { setting.hash.buckets = value; });

  return {
      {"", "gob.lin", gob_lin, {scales, alphas}},
      {"graph", "linucb-sin", linucb_sin, {scales, alphas}},
      {"graph", "linucb-ind", linucb_ind, {scales, alphas}},
      {"clusters", "gob.lin.macro", gob_lin_macro, {scales, alphas, macro_clusters}},
      {"clusters", "gob.lin.block", gob_lin_block, {scales, alphas, block_clusters}},
      {"prior", "gob.lin.hub", gob_lin_hub, {scales, alphas, hub_weights}},
      {"prior", "gob.lin.hub alone", gob_lin_hub, {scales, alphas, hub_weights, no_friends}},
      {"online clusters", "club", club, {scales, alphas, separations}},
      {"online clusters", "club random", club, {scales, alphas, separations, random_graph}},
      {"online clusters", "dynucb", dynucb, {scales, alphas, moving_clusters}},
      {"prior", "gob.lin normalized", gob_lin, {scales, alphas, normalized}},
      {"hashing", "linucb.hash", linucb_hash, {scales, alphas, buckets}},
      {"rule", "gob.lin thompson", gob_lin, {scales, deviations}},
      {"rule", "gob.lin epsilon_greedy", gob_lin, {scales, epsilons}},
      {"rule", "gob.lin greedy", gob_lin, {many_scales, greedy}},
      {"rule", "gob.lin square_cb", gob_lin, {scales, gammas}},
      {"rule", "gob.lin printed_bound", gob_lin, {scales, noises, norms}},
      {"forgetting", "gob.lin window", gob_lin, {scales, alphas, windows}},
      {"forgetting", "gob.lin discount", gob_lin, {scales, alphas, discounts}},
  };
}

/// The contender's settings: the first points of its grid.
Contender contender_of(const Rival& rival, std::size_t budget) {
  std::vector<std::size_t> sizes;
  for (const Axis& each : rival.axes) sizes.push_back(each.size());
  Contender contender{.name = std::string(rival.name), .policy = rival.policy, .alphas = {}};
  for (const auto& point : halton_points(sizes, budget)) {
    Setting setting{.policy = rival.policy};
    for (std::size_t k = 0; k < point.size(); ++k) rival.axes[k][point[k]](setting);
    contender.given.push_back(setting);
  }
  return contender;
}

/// The k-th number of van der Corput's sequence: the digits of k behind the point, in reverse.
double radical_inverse(std::size_t k, std::size_t base) {
  double result = 0.0;
  double place = 1.0;
  for (; k > 0; k /= base) {
    place /= static_cast<double>(base);
    result += place * static_cast<double>(k % base);
  }
  return result;
}

std::vector<Study> all_studies(const Plan& plan) {
  std::vector<Study> studies;
  for (const paper::GridStudy& each : plan.grid) studies.push_back(each.study);
  studies.insert(studies.end(), plan.others.begin(), plan.others.end());
  return studies;
}

/// What a round takes, very roughly: as measured on one core, with 100 users and with about 1,900.
double rough_milliseconds(const Setting& setting, bool is_data) {
  if (setting.policy == Policy::linucb_hash)
    return 1e-6 * static_cast<double>(setting.hash.buckets * setting.hash.buckets);
  if (!has_node_per_user(setting.policy) || setting.policy == Policy::linucb_ind) return is_data ? 0.1 : 0.02;
  if (setting.policy == Policy::gob_lin_block) return is_data ? 0.6 : 0.04;
  double result = is_data ? 2.9 : 0.22;
  if (has_hub(setting.policy)) result *= !is_data ? 1.2 : setting.coupling > 0.0 ? 4.0 : 1.4;
  if (setting.forgetting.window > 0) result *= 1.7;
  if (setting.forgetting.discount < 1.0) result *= is_data ? 2.0 : 10.0;
  return result;
}

}  // namespace

std::vector<std::vector<std::size_t>> halton_points(const std::vector<std::size_t>& axis_sizes, std::size_t count) {
  constexpr std::array<std::size_t, 6> primes = {2, 3, 5, 7, 11, 13};
  if (axis_sizes.size() > primes.size()) {
    throw std::invalid_argument(fmt::format("axes: {} (must be at most {})", axis_sizes.size(), primes.size()));
  }
  std::size_t whole = 1;
  for (const std::size_t size : axis_sizes) whole *= size;
  if (whole < count) throw std::invalid_argument(fmt::format("points: {} (must be at most {})", count, whole));
  std::vector<std::vector<std::size_t>> points;
  std::set<std::vector<std::size_t>> seen;
  for (std::size_t k = 1; points.size() < count; ++k) {
    std::vector<std::size_t> point(axis_sizes.size());
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
      const double place = radical_inverse(k, primes[axis]) * static_cast<double>(axis_sizes[axis]);
      point[axis] = std::min(static_cast<std::size_t>(place), axis_sizes[axis] - 1);
    }
    if (seen.insert(point).second) points.push_back(std::move(point));
  }
  return points;
}

Plan plan(const Options& options) {
  const RunSizes& sizes = options.quick ? quick : full;
  const std::uint64_t rounds = options.rounds.value_or(sizes.rounds);
  if (rounds < 2) throw std::invalid_argument(fmt::format("rounds: {} (must be at least 2)", rounds));
  const std::size_t seeds = options.seeds.value_or(sizes.evaluation_seeds);
  if (seeds < 2) throw std::invalid_argument(fmt::format("seeds: {} (must be at least 2)", seeds));

  Plan plan{.options = options, .budget = sizes.budget, .questions = {}, .grid = {}, .others = {}};
  const auto study = [&](std::string name, std::string title, Condition condition, bool is_data) {
    Study result{.name = std::move(name),
                 .title = std::move(title),
                 .condition = std::move(condition),
                 .contenders = {},
                 .tuning_seeds = seeds_from(first_tuning_seed, sizes.tuning_seeds),
                 .evaluation_seeds = seeds_from(1, seeds),
                 .tuning_rounds = rounds / 2,
                 .rounds = rounds,
                 .finalists = 1};
    for (const Rival& rival : rivals_in({.rounds = rounds, .is_data = is_data})) {
      result.contenders.push_back(contender_of(rival, sizes.budget));
    }
    return result;
  };
  for (const double graph_noise : sizes.graph_noises) {
    for (const double payoff_noise : sizes.payoff_noises) {
      plan.grid.push_back({graph_noise, payoff_noise,
                           study(fmt::format("4cliques-{}-{}", graph_noise, payoff_noise),
                                 fmt::format("4Cliques, graph noise {:.1f} %, payoff noise {}",
                                             100.0 * graph_noise / paper::clique_edges, payoff_noise),
                                 cliques(graph_noise, payoff_noise), false)});
    }
  }
  // Tuned over all its rounds: a setting has to be chosen by how it takes the change.
  plan.others.push_back(study("drift", "4Cliques whose vectors change half way",
                              cliques(drift_graph_noise, drift_payoff_noise, rounds / 2), false));
  plan.others.back().tuning_rounds = rounds;
  if (options.lastfm) plan.others.push_back(study("lastfm", "Last.fm", catalogue("lastfm", options.lastfm), true));
  if (options.delicious) {
    plan.others.push_back(study("delicious", "Delicious", catalogue("delicious", options.delicious), true));
  }

  const auto rivals = rivals_in({.rounds = rounds, .is_data = false});
  for (const auto& [name, text] : questions) {
    Question question{.name = std::string(name), .text = std::string(text), .contenders = {}};
    for (const Rival& rival : rivals) {
      if (rival.question == name) question.contenders.emplace_back(rival.name);
    }
    if (!question.contenders.empty()) plan.questions.push_back(std::move(question));
  }
  return plan;
}

std::size_t Plan::cell_count() const { return experiment::cell_count(all_studies(*this)); }

std::vector<Condition> Plan::conditions() const { return conditions_of(all_studies(*this)); }

double Plan::rough_seconds() const {
  double milliseconds = 0.0;
  for (const Study& study : all_studies(*this)) {
    const auto tuning = static_cast<double>(study.tuning_seeds.size() * study.tuning_rounds);
    const auto evaluation = static_cast<double>(study.evaluation_seeds.size() * study.rounds);
    for (const Contender& contender : study.contenders) {
      const auto settings = contender.settings();
      for (const Setting& setting : settings) {
        const double share = tuning + evaluation / static_cast<double>(settings.size());  // any of them may be chosen
        milliseconds += share * rough_milliseconds(setting, study.condition.fixed_graph);
      }
    }
  }
  return 1e-3 * milliseconds;
}

std::vector<const StudyResult*> Results::all() const {
  std::vector<const StudyResult*> all;
  for (const paper::GridResult& each : grid) all.push_back(&each.result);
  for (const StudyResult& each : others) all.push_back(&each);
  return all;
}

std::optional<Results> run(const Plan& plan, const CellStore& store, const RunOptions& options) {
  auto results = run_studies(all_studies(plan), store, options);
  if (!results) return std::nullopt;
  auto next = results->begin();
  Results all{.plan = plan, .grid = {}, .others = {}};
  for (const paper::GridStudy& each : plan.grid) {
    all.grid.push_back({each.graph_noise, each.payoff_noise, std::move(*next++)});
  }
  for (std::size_t k = 0; k < plan.others.size(); ++k) all.others.push_back(std::move(*next++));
  return all;
}

}  // namespace goblin::experiment::rivals
