#include "goblin/offline/tune.hpp"

#include "bandit/checks.hpp"
#include "belief/engine_factory.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/graph/generators.hpp"
#include "offline/gains.hpp"
#include "offline/replay.hpp"
#include "offline/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::offline {
namespace {

constexpr std::array always = {Policy::linucb_sin, Policy::linucb_ind, Policy::gob_lin};
// Keys of random streams.
constexpr std::uint64_t rewiring_stream = 1;
constexpr std::uint64_t bootstrap_stream = 2;
constexpr std::uint64_t replay_stream = 3;
// What the steps cost, as multiples of a likelihood; for the progress bar.
constexpr double expected_refinements = 45.0;
constexpr double validation_work = 12.0;
constexpr double replay_work = 0.002;  // a reward
constexpr std::size_t loss_points = 10;
/// Each block of progressive validation is a quarter as long as what was learned before it.
constexpr std::size_t block_share = 4;
/// While settings are looked for, the first block is this share of the log, and each other one doubles what was
/// learned.
constexpr std::size_t first_share = 4;
/// Settings that are found so are taken where their squared error is so much smaller, in a log that is not too short.
constexpr double clearly_better = 0.98;
constexpr std::size_t fewest_validated = 100;

void check(const Graph& users, const RewardTable& table, const TuneOptions& options) {
  const std::size_t d = options.dimension;
  const std::size_t count = table.users.size();
  if (d == 0) throw std::invalid_argument("dimension: 0 (must be at least 1)");
  if (count < 2) {
    throw std::invalid_argument(fmt::format("rewards: {} (must be at least 2: there is nothing to predict)", count));
  }
  if (table.rewards.size() != count || table.contexts.size() != count * d) {
    throw std::invalid_argument(fmt::format("rewards: {} users, {} contexts and {} rewards (must be as many of each)",
                                            count, table.contexts.size() / d, table.rewards.size()));
  }
  if (options.resamples < 100) {
    throw std::invalid_argument(fmt::format("resamples: {} (must be at least 100)", options.resamples));
  }
  const BanditOptions bandit{.dimension = d};
  for (std::size_t row = 0; row < count; ++row) {
    if (table.users[row] >= users.node_count()) {
      throw std::invalid_argument(fmt::format("users[{}]: {} (must be below the number of users, {})", row,
                                              table.users[row], users.node_count()));
    }
    check_reward(table.rewards[row]);
    check_context(table.contexts.subspan(row * d, d), bandit, 1e100);
  }
  if (std::all_of(table.rewards.begin(), table.rewards.end(),
                  [&](double reward) { return reward == table.rewards.front(); })) {
    throw std::invalid_argument(
        fmt::format("rewards: all are {} (must differ: there is nothing to predict)", table.rewards.front()));
  }
  if (std::all_of(table.contexts.begin(), table.contexts.end(), [](double number) { return number == 0.0; })) {
    throw std::invalid_argument("contexts: all are 0 (must say something about what was shown)");
  }
  for (const Policy policy : options.policies) {
    if (!has_likelihood(policy)) {
      throw std::invalid_argument(
          fmt::format("policy: {} (must be {}: the others have no likelihood that the order of the log leaves alone)",
                      name_of(policy), policy_names_with_likelihood()));
    }
    if (uses_clusters(policy)) check_clusters(policy, users.node_count(), options.clusters);
  }
  if (!options.clusters.empty()) check_clusters(Policy::gob_lin_block, users.node_count(), options.clusters);
}

double mean_squared_length(const RewardTable& table) {
  double total = 0.0;
  for (const double number : table.contexts) total += number * number;
  return total / static_cast<double>(table.users.size());
}

/// Whether a number is the same in all contexts, and not 0.
bool has_constant(const RewardTable& table, std::size_t dimension) {
  for (std::size_t k = 0; k < dimension; ++k) {
    bool constant = table.contexts[k] != 0.0;
    for (std::size_t row = 0; constant && row < table.users.size(); ++row) {
      constant = table.contexts[row * dimension + k] == table.contexts[k];
    }
    if (constant) return true;
  }
  return false;
}

/// Where the blocks of progressive validation end; few of them while settings are looked for.
std::vector<std::size_t> block_ends(std::size_t count, bool few = false) {
  std::vector<std::size_t> ends;
  const std::size_t least = few ? std::max<std::size_t>(1, count / first_share) : 1;
  for (std::size_t end = 0; end < count;) {
    end = std::min(count, end + std::max(least, few ? end : end / block_share));
    ends.push_back(end);
  }
  return ends;
}

RewardTable first_of(const RewardTable& table, std::size_t count, std::size_t dimension) {
  return {.users = table.users.first(count),
          .contexts = table.contexts.first(count * dimension),
          .rewards = table.rewards.first(count)};
}

/// The prediction of every reward from those before its block.
std::vector<double> predictions_of(const Model& model, Place place, const RewardTable& table, std::size_t dimension,
                                   bool few, Work& work) {
  const auto means = engine_factory().progressive_means(model.prior(place), dimension);
  const auto ends = block_ends(table.users.size(), few);
  std::vector<double> predictions;
  predictions.reserve(table.users.size());
  for (const std::size_t end : ends) {
    const std::size_t begin = predictions.size();
    const auto context = [&](std::size_t row) { return table.contexts.subspan(row * dimension, dimension); };
    const auto node = [&](std::size_t row) { return model.node_of()[table.users[row]]; };
    for (std::size_t row = begin; row < end; ++row) predictions.push_back(means->mean(node(row), context(row)));
    if (end == table.users.size()) break;
    for (std::size_t row = begin; row < end; ++row) means->learn(node(row), context(row), table.rewards[row]);
    means->settle(few ? 1e-3 : 1e-5);
    if (model.has_edges()) work.tick(few ? 0.0 : validation_work / static_cast<double>(ends.size()));
  }
  return predictions;
}

/// The mean of the rewards before each block.
std::vector<double> constant_predictions(const RewardTable& table) {
  std::vector<double> predictions;
  double total = 0.0;
  for (const std::size_t end : block_ends(table.users.size())) {
    const std::size_t begin = predictions.size();
    predictions.resize(end, begin == 0 ? 0.0 : total / static_cast<double>(begin));
    for (std::size_t row = begin; row < end; ++row) total += table.rewards[row];
  }
  return predictions;
}

std::vector<CurvePoint> curve_of(const RewardTable& table, std::span<const double> predictions) {
  constexpr std::size_t points = 50;
  std::vector<CurvePoint> curve;
  double total = 0.0;
  const std::size_t count = predictions.size();
  for (std::size_t row = 0; row < count; ++row) {
    const double error = table.rewards[row] - predictions[row];
    total += error * error;
    if ((row + 1) * points / count > row * points / count) {
      curve.push_back({row + 1, total / static_cast<double>(row + 1)});
    }
  }
  return curve;
}

double mean_squared(const RewardTable& table, std::span<const double> predictions) {
  double total = 0.0;
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    total += (table.rewards[row] - predictions[row]) * (table.rewards[row] - predictions[row]);
  }
  return total / static_cast<double>(predictions.size());
}

/// Everything that tune does, step by step.
class Tuning {
 public:
  Tuning(const Graph& users, const RewardTable& table, const TuneOptions& options)
      : users_(users),
        table_(table),
        options_(options),
        unit_(mean_squared_length(table)),
        work_(options.threads, options.progress),
        errors_(table.users, users.node_count()) {
    result_.users = users.node_count();
    result_.users_with_rewards = errors_.users.size();
    result_.edges = users.edge_count();
    result_.rewards = table.users.size();
    result_.dimension = options.dimension;
  }

  TuneResult run() && {
    make_models();
    search();
    rewire();
    validate();
    find_losses();
    compare();
    replay();
    warn();
    return std::move(result_);
  }

 private:
  struct Rival {
    std::unique_ptr<Model> model;
    const NodeEvidence* evidence = nullptr;
    Place place = {};
    LikelihoodPoint point = {};
    std::vector<double> predictions = {};
    std::vector<double> errors = {};  // for each user
  };

  /// Policies with the same nodes share their evidence.
  const NodeEvidence& evidence_of(const Model& model) {
    auto& evidence = evidence_[{model.node_of().begin(), model.node_of().end()}];
    if (!evidence) {
      evidence = std::make_unique<NodeEvidence>(table_, options_.dimension, model.node_of(), model.node_count());
    }
    return *evidence;
  }

  void make_models() {
    for (const Policy policy : all_policies) {
      const bool wanted =
          std::find(options_.policies.begin(), options_.policies.end(), policy) != options_.policies.end();
      if (!wanted && std::find(always.begin(), always.end(), policy) == always.end()) continue;
      const auto clusters =
          uses_clusters(policy) ? std::span<const NodeId>(options_.clusters) : std::span<const NodeId>();
      policies_.push_back({.model = std::make_unique<Model>(policy, users_, clusters, options_.dimension, unit_)});
      policies_.back().evidence = &evidence_of(*policies_.back().model);
      expect(*policies_.back().model, expected_refinements);
    }
    if (result_.edges > 0) {
      work_.expect(static_cast<double>(options_.rewirings) * (expected_refinements + validation_work));
    }
    if (options_.replay) work_.expect(static_cast<double>(policies_.size() * result_.rewards) * replay_work);
  }

  void expect(const Model& model, double refinements) {
    if (!model.has_edges()) return;
    work_.expect(static_cast<double>(model.coarse().size()) + refinements + validation_work +
                 static_cast<double>(loss_points - 1));
  }

  [[nodiscard]] Search::Score likelihood_of(const Rival& rival) const {
    return [&rival](Place place) { return rival.model->at(*rival.evidence, place); };
  }
  /// -T / 2 ln(squared error): what the log likelihood would be if that were the noise.
  [[nodiscard]] Search::Score validation_of(const Rival& rival) {
    return [this, &rival](Place place) {
      const auto predictions = predictions_of(*rival.model, place, table_, options_.dimension, true, work_);
      LikelihoodPoint point;
      point.log_likelihood =
          -0.5 * static_cast<double>(result_.rewards) * std::log(std::max(mean_squared(table_, predictions), 1e-300));
      return point;
    };
  }

  /// By the likelihood first, then by the squared error from there.
  void search() {
    std::vector<Search> searches;
    std::vector<Search> validations;
    for (const Rival& rival : policies_) {
      searches.emplace_back(*rival.model, likelihood_of(rival), rival.model->coarse(), decade / 2);
    }
    offline::run(searches, work_);
    for (std::size_t k = 0; k < searches.size(); ++k) {
      validations.emplace_back(*policies_[k].model, validation_of(policies_[k]), std::vector<Place>{searches[k].best()},
                               decade, decade / 2);
    }
    if (result_.rewards >= fewest_validated) offline::run(validations, work_);
    for (std::size_t k = 0; k < searches.size(); ++k) {
      Rival& rival = policies_[k];
      const Search& search = searches[k];
      const Search& validation = validations[k];
      const Model& model = *rival.model;
      TunedPolicy tuned;
      tuned.policy = model.policy();
      rival.place = search.best();
      rival.point = search.best_point();
      if (!validation.tried().empty() && clearly_best(validation, rival.place)) {
        tuned.by_validation = true;
        rival.place = validation.best();
        rival.point = model.at(*rival.evidence, rival.place);
      }
      tuned.ridge = model.ridge(rival.place);
      if (model.has_edges()) tuned.coupling = rival.point.coupling;
      if (has_hub(model.policy())) tuned.hub_weight = rival.point.ridge;
      tuned.noise = tuned.alpha = rival.point.noise;
      tuned.log_likelihood = rival.point.log_likelihood;
      tuned.standard_error = rival.point.standard_error;
      tuned.at_limit = model.at_limit(rival.place);
      for (const auto& [place, point] : search.tried()) tuned.tried.push_back(point);
      result_.policies.push_back(std::move(tuned));
    }
  }

  /// Whether the best of a validation has a clearly smaller squared error than the settings it began with.
  [[nodiscard]] bool clearly_best(const Search& validation, Place begin) const {
    const double gain = validation.best_point().log_likelihood - validation.tried().at(begin).log_likelihood;
    return gain > -0.5 * static_cast<double>(result_.rewards) * std::log(clearly_better);
  }

  [[nodiscard]] const Rival& rival_of(Policy policy) const {
    return *std::find_if(policies_.begin(), policies_.end(),
                         [policy](const Rival& rival) { return rival.model->policy() == policy; });
  }

  /// The same search, by likelihood or by squared error as the graph's own settings were found, from where that ended
  /// and from where linucb-ind's did.
  void rewire() {
    if (result_.edges == 0) return;
    const Rival& own = rival_of(Policy::gob_lin);
    const bool by_validation = result_.of(Policy::gob_lin).by_validation;
    std::vector<Search> searches;
    rewired_.reserve(options_.rewirings);  // searches look at them
    for (std::size_t k = 0; k < options_.rewirings; ++k) {
      const auto other = generate::rewired(users_, Random(options_.seed, rewiring_stream, k));
      if (other.swaps < result_.edges) continue;
      rewired_.push_back({.model = std::make_unique<Model>(Policy::gob_lin, other.graph, std::span<const NodeId>(),
                                                           options_.dimension, unit_),
                          .evidence = own.evidence});
      const Model& model = *rewired_.back().model;
      std::vector<Place> begin = {own.place};
      const Place uncoupled = model.uncoupled(rival_of(Policy::linucb_ind).place.ridge);
      if (uncoupled != own.place && model.allows(uncoupled)) begin.push_back(uncoupled);
      if (by_validation) {
        // A validation takes long. Other edges than the true ones deserve less coupling, if any.
        for (const int less : {decade / 2, decade}) {
          const Place place{own.place.ridge, own.place.coupling - less};
          if (model.allows(place)) begin.push_back(place);
        }
        searches.emplace_back(model, validation_of(rewired_.back()), std::move(begin), 0);
      } else {
        searches.emplace_back(model, likelihood_of(rewired_.back()), std::move(begin), decade);
      }
    }
    offline::run(searches, work_);
    for (std::size_t k = 0; k < searches.size(); ++k) {
      Rival& rival = rewired_[k];
      rival.place = searches[k].best();
      rival.point = by_validation ? rival.model->at(*rival.evidence, rival.place) : searches[k].best_point();
    }
  }

  void validate() {
    std::vector<Rival*> all;
    for (Rival& rival : rewired_) all.push_back(&rival);
    for (Rival& rival : policies_) all.push_back(&rival);
    work_.run(all.size(), [&](std::size_t k) {
      Rival& rival = *all[k];
      rival.predictions = predictions_of(*rival.model, rival.place, table_, options_.dimension, false, work_);
      rival.errors = errors_.squared(table_, rival.predictions);
    });
    for (std::size_t k = 0; k < policies_.size(); ++k) {
      TunedPolicy& tuned = result_.policies[k];
      tuned.squared_error = mean_squared(table_, policies_[k].predictions);
      tuned.curve = curve_of(table_, policies_[k].predictions);
      if (tuned.squared_error < result_.policies[result_.best].squared_error) result_.best = k;
    }
  }

  /// By the chain rule the sum of -ln p of each reward, given those before it, is -ln p of all.
  void find_losses() {
    const auto count = [&](std::size_t point) {
      return std::max<std::size_t>(1, result_.rewards * point / loss_points);
    };
    std::vector<std::vector<double>> likelihoods(loss_points - 1);
    work_.run(likelihoods.size(), [&](std::size_t k) {
      const RewardTable some = first_of(table_, count(k + 1), options_.dimension);
      std::map<const NodeEvidence*, std::unique_ptr<NodeEvidence>> parts;
      for (const Rival& rival : policies_) {
        auto& part = parts[rival.evidence];
        if (!part) {
          part = std::make_unique<NodeEvidence>(some, options_.dimension, rival.model->node_of(),
                                                rival.model->node_count());
        }
        likelihoods[k].push_back(rival.model->at(*part, rival.place, rival.point.noise).log_likelihood);
        if (rival.model->has_edges()) work_.tick(1.0);
      }
    });
    for (std::size_t policy = 0; policy < policies_.size(); ++policy) {
      TunedPolicy& tuned = result_.policies[policy];
      for (std::size_t k = 0; k < likelihoods.size(); ++k) {
        tuned.losses.push_back({count(k + 1), -likelihoods[k][policy] / static_cast<double>(count(k + 1))});
      }
      tuned.log_loss = -tuned.log_likelihood / static_cast<double>(result_.rewards);
      tuned.losses.push_back({result_.rewards, tuned.log_loss});
    }
  }

  [[nodiscard]] std::vector<double> gain_over(std::span<const double> rival_errors,
                                              std::span<const double> own_errors) const {
    std::vector<double> gains(errors_.users.size());
    for (std::size_t k = 0; k < gains.size(); ++k) gains[k] = rival_errors[k] - own_errors[k];
    return gains;
  }

  void compare() {
    const std::vector<double> constant = constant_predictions(table_);
    result_.constant_error = mean_squared(table_, constant);
    const auto& own = rival_of(Policy::gob_lin).errors;
    std::vector<std::vector<double>> columns = {
        gain_over(errors_.squared(table_, constant), policies_[result_.best].errors),
        gain_over(rival_of(Policy::linucb_ind).errors, own), gain_over(rival_of(Policy::linucb_sin).errors, own)};
    std::size_t beaten = 0;
    double rewired_error = 0.0;
    for (const Rival& rival : rewired_) {
      columns.push_back(gain_over(rival.errors, own));
      const double error = mean_squared(table_, rival.predictions);
      if (error > result_.of(Policy::gob_lin).squared_error) ++beaten;
      rewired_error += error / static_cast<double>(rewired_.size());
      result_.rewirings.push_back({.ridge = rival.point.ridge,
                                   .coupling = rival.point.coupling,
                                   .log_likelihood = rival.point.log_likelihood,
                                   .squared_error = error});
    }
    const std::uint64_t seed = Random(options_.seed, bootstrap_stream).bits();
    const Bootstrap bootstrap(columns, errors_.rewards, options_.resamples, seed);
    if (result_.edges > 0) {
      const auto add = [&](std::string name, double error, const Gain& gain) {
        result_.comparisons.push_back({std::move(name), error, gain});
      };
      add("linucb-ind", result_.of(Policy::linucb_ind).squared_error, bootstrap.of(1));
      add("linucb-sin", result_.of(Policy::linucb_sin).squared_error, bootstrap.of(2));
      if (!rewired_.empty()) add("rewired", rewired_error, bootstrap.of_mean(3, columns.size()));
      find_groups(columns[1], seed);
    }
    judge(result_, bootstrap.of(0), beaten);
  }

  void find_groups(const std::vector<double>& gains, std::uint64_t seed) {
    std::vector<double> degrees;
    for (std::size_t k = 0; k < errors_.users.size(); ++k) {
      degrees.push_back(static_cast<double>(users_.neighbours(errors_.users[k]).size()));
      result_.user_gains.push_back({.user = errors_.users[k],
                                    .rewards = static_cast<std::size_t>(errors_.rewards[k]),
                                    .gain = gains[k] / errors_.rewards[k]});
    }
    const auto of = [&](const Grouping& grouping) {
      return gains_of(grouping, errors_, gains, options_.resamples, seed);
    };
    result_.by_degree = of(by_size(degrees, "friend"));
    result_.by_rewards = of(by_size(errors_.rewards, "reward"));
    result_.by_cluster = of(clusters());
  }

  /// The labels that were given, or up to ten clusters of the graph.
  [[nodiscard]] Grouping clusters() const {
    std::vector<NodeId> labels = options_.clusters;
    if (labels.empty()) {
      constexpr std::size_t usual_size = 25;
      constexpr std::size_t most = 10;
      const std::size_t count = std::clamp<std::size_t>(users_.node_count() / usual_size, 1, most);
      labels = cluster::partition(
                   users_, {.clusters = count, .seed = options_.seed, .starts = 1, .improvement_steps = 1'000'000})
                   .labels;
    }
    Grouping grouping;
    for (const NodeId user : errors_.users) grouping.label_of.push_back(labels[user]);
    const NodeId largest = *std::max_element(labels.begin(), labels.end());
    for (NodeId label = 0; label <= largest; ++label) {
      grouping.labels.push_back(label < options_.cluster_names.size()
                                    ? fmt::format("cluster {}", options_.cluster_names[label])
                                    : fmt::format("cluster {}", label));
    }
    return grouping;
  }

  /// Alpha and coupling by what the policies would have earned. One policy after the other: that takes a sixth of the
  /// memory.
  void replay() {
    if (!options_.replay) return;
    AlphaReplays replays(options_.replay, work_,
                         {.seed = Random(options_.seed, replay_stream).bits(),
                          .resamples = options_.resamples,
                          .dimension = options_.dimension,
                          .rewards = result_.rewards,
                          .work = replay_work * static_cast<double>(result_.rewards)});
    for (TunedPolicy& tuned : result_.policies) {
      tuned.replay = replays.of(tuned.noise, tuned.coupling,
                                [&](const TriedMultiples& multiples) { return bandit_of(tuned, multiples); });
      if (!tuned.alpha_by_replay()) continue;
      const TriedAlpha& taken = tuned.replay->tried[*tuned.replay->chosen];
      tuned.alpha = taken.alpha;
      tuned.coupling = taken.coupling;
    }
  }

  [[nodiscard]] Bandit bandit_of(const TunedPolicy& tuned, const TriedMultiples& multiples) const {
    BanditOptions options{
        .dimension = options_.dimension, .alpha = multiples.noise * tuned.noise, .ridge = tuned.ridge};
    options.evidence_per_node = true;
    options.engine.threads = 1;
    // Far below what an estimate from some thousand decisions can see, and a quarter of the time less.
    options.engine.tolerance = 1e-5;
    if (tuned.coupling) options.coupling = multiples.coupling * *tuned.coupling;
    if (tuned.hub_weight) options.hub = {.weight = *tuned.hub_weight, .ridge = tuned.ridge};
    const auto clusters =
        uses_clusters(tuned.policy) ? std::span<const NodeId>(options_.clusters) : std::span<const NodeId>();
    return Bandit::make(tuned.policy, users_, clusters, options);
  }

  void warn() {
    const TunedPolicy& best = result_.policies[result_.best];
    if (result_.constant_error <= best.squared_error) {
      result_.warnings.push_back(fmt::format(
          "The mean of the rewards so far predicts as well as the best policy ({:.4g} against {:.4g}): {}",
          result_.constant_error, best.squared_error,
          has_constant(table_, options_.dimension)
              ? "as far as this log can tell, the contexts say nothing about rewards."
              : "contexts without a constant cannot say how high rewards are on average; try an intercept."));
    }
    std::string validated;
    for (const TunedPolicy& tuned : result_.policies) {
      if (tuned.by_validation) validated += fmt::format("{}{}", validated.empty() ? "" : ", ", name_of(tuned.policy));
    }
    if (!validated.empty()) {
      result_.warnings.push_back(
          fmt::format("The most probable settings do not predict best, so that rewards are not as the likelihood takes "
                      "them to be (normal, with the same noise everywhere); the settings of these have the smallest "
                      "squared error instead: {}.",
                      validated));
    }
    for (const TunedPolicy& tuned : result_.policies) {
      if (!tuned.at_limit) continue;
      result_.warnings.push_back(
          fmt::format("{}: the settings chosen are the last that were tried; the log does not say how far to go.",
                      name_of(tuned.policy)));
    }
    if (std::all_of(table_.rewards.begin(), table_.rewards.end(),
                    [](double reward) { return reward == 0.0 || reward == 1.0; })) {
      result_.warnings.emplace_back(
          "Rewards are 0 or 1, and the likelihood takes them for numbers with normal noise: trust the squared errors "
          "more than the likelihoods.");
    }
  }

  const Graph& users_;
  const RewardTable& table_;
  const TuneOptions& options_;
  double unit_;
  Work work_;
  UserErrors errors_;
  std::map<std::vector<NodeId>, std::unique_ptr<NodeEvidence>> evidence_;  // by the nodes of the users
  std::vector<Rival> policies_;
  std::vector<Rival> rewired_;
  TuneResult result_;
};

}  // namespace

std::string_view name_of(GraphHelps answer) {
  switch (answer) {
    case GraphHelps::yes:
      return "yes";
    case GraphHelps::no:
      return "no";
    case GraphHelps::not_decided:
      break;
  }
  return "not decided";
}

std::string_view name_of(ReplayAnswer answer) {
  switch (answer) {
    case ReplayAnswer::another:
      return "another";
    case ReplayAnswer::noise:
      return "noise";
    case ReplayAnswer::not_decided:
      return "not decided";
    case ReplayAnswer::not_done:
      break;
  }
  return "not done";
}

const TunedPolicy& TuneResult::of(Policy policy) const {
  for (const TunedPolicy& tuned : policies) {
    if (tuned.policy == policy) return tuned;
  }
  throw std::invalid_argument(fmt::format("policy: {} (was not tuned)", goblin::name_of(policy)));
}

TuneResult tune(const Graph& users, const RewardTable& rewards, const TuneOptions& options) {
  check(users, rewards, options);
  return Tuning(users, rewards, options).run();
}

}  // namespace goblin::offline
