#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What a log says before a bandit is made: which settings, and whether the graph helps.
namespace goblin::offline {

/// A reward of a log, with what is known of the decision that it came of.
struct LoggedRound {
  NodeId user = 0;
  /// Candidate after candidate. Of a reward without a decision, the context of what was shown.
  std::span<const double> contexts = {};
  std::size_t action = 0;  ///< which of them was shown
  double reward = 0.0;
  bool is_decision = false;                ///< whether it is known what else could have been shown
  std::optional<double> probability = {};  ///< that with which the log chose, if anybody knows
  std::size_t place = 0;                   ///< where it stands in the log, for BadRound
};

/// Goes through a log from its beginning, and gives all its rewards to `take`, in their order.
using ReadRounds = std::function<void(const std::function<void(const LoggedRound& round)>& take)>;

/// A round that no bandit can judge: a candidate is too long, for instance.
struct BadRound : std::invalid_argument {
  BadRound(std::size_t where, const std::string& reason) : std::invalid_argument(reason), place(where) {}
  std::size_t place;
};

struct TuneOptions {
  /// How many numbers a context has.
  std::size_t dimension = 0;
  /// Tuned beside linucb-sin, linucb-ind and gob.lin, which the question about the graph needs. Those of the paper and
  /// gob.lin.hub; the others have no evidence that the order of the log does not change, or too large a node.
  std::vector<Policy> policies = {};
  /// A label a user, for the policies that need clusters. Without labels clusters are made to say where the graph
  /// helps.
  std::vector<NodeId> clusters = {};
  /// What the labels are called in TuneResult::by_cluster; one without a name is called by its number.
  std::vector<std::string> cluster_names = {};
  /// How many graphs with the same degrees and other edges the graph is compared with.
  std::size_t rewirings = 5;
  /// Of the bootstrap.
  std::size_t resamples = 2000;
  std::uint64_t seed = 0;
  /// Alpha and coupling are looked for by replay, too, if this is set. It is called once or twice for every policy, and
  /// once before, because all candidates of a log may not fit into memory.
  ReadRounds replay = {};
  /// 0 stands for as many as the machine has. The result is the same for any number.
  std::size_t threads = 0;
  /// Called now and then, with the share that is done, 0 to 1, from the thread that called tune. What it throws stops
  /// the work and reaches the caller.
  std::function<void(double share)> progress = {};
};

/// How probable all rewards of the log are with some settings, the noise being the best for them.
struct LikelihoodPoint {
  double ridge = 0.0;     ///< of gob.lin.hub: HubOptions::weight
  double coupling = 0.0;  ///< 0 where no edges join the nodes
  double log_likelihood = 0.0;
  double standard_error = 0.0;  ///< of the log likelihood, where it is an estimate
  double noise = 0.0;
};

struct CurvePoint {
  std::size_t rewards = 0;
  double squared_error = 0.0;  ///< mean over the rewards up to there
};

struct LossPoint {
  std::size_t rewards = 0;
  double log_loss = 0.0;  ///< mean over the rewards up to there
};

/// A mean and where it lies with 95 %. Of a single user nobody can say: the ends are not numbers.
struct Gain {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// What a policy would have earned with some alpha and, where edges join its nodes, some coupling.
struct TriedAlpha {
  double of_noise = 0.0;  ///< alpha, divided by the noise
  double alpha = 0.0;
  double of_coupling = 1.0;             ///< the coupling, divided by the one that predicts best
  std::optional<double> coupling = {};  ///< none where no edges join the nodes
  Gain value;  ///< a decision: the mean reward where it would have shown the same, each divided by its probability
  /// How much more than with the noise as alpha, and with the coupling that predicts best. Those of all that were tried
  /// hold together with 95 %.
  Gain gain;
  std::size_t matched = 0;  ///< decisions in which it would have shown the same
  double effective_sample_size = 0.0;
  bool trusted = false;  ///< it rests on enough decisions, whose probabilities are right as far as one can see
};

enum class ReplayAnswer {
  another,      ///< than the noise earns clearly more, and was taken
  noise,        ///< earns clearly more than all others
  not_decided,  ///< the noise stays
  not_done,     ///< the log does not allow it; the noise stays
};
[[nodiscard]] std::string_view name_of(ReplayAnswer answer);  // "another", "noise", "not decided", "not done"

/// Alpha and coupling by replay: what came of it.
struct AlphaReplay {
  ReplayAnswer answer = ReplayAnswer::not_done;
  std::string reason;  ///< in sentences
  std::vector<TriedAlpha> tried;
  std::optional<std::size_t> chosen = {};  ///< of these, the one that is taken
};

/// What was found for a policy.
struct TunedPolicy {
  Policy policy = Policy::gob_lin;
  /// BanditOptions::ridge, coupling and hub, and Exploration::ucb's alpha.
  double ridge = 1.0;
  /// The one that predicts best, or what replay found; none where no edges join the nodes.
  std::optional<double> coupling = {};
  std::optional<double> hub_weight = {};  ///< gob.lin.hub; its hub's ridge is `ridge`, too
  /// The noise, that is a width of one posterior standard deviation times sqrt(ln t), or what replay found.
  double alpha = 0.0;
  double noise = 0.0;  ///< standard deviation
  double log_likelihood = 0.0;
  double standard_error = 0.0;  ///< of the log likelihood
  /// The settings are not the most probable ones: progressive validation found a squared error that is at least 2 %
  /// smaller with these.
  bool by_validation = false;
  bool at_limit = false;  ///< the best settings are the last that were tried: the log does not say how far to go
  std::vector<LikelihoodPoint> tried;

  double squared_error = 0.0;  ///< progressive validation: mean over all rewards
  double log_loss = 0.0;       ///< -log_likelihood a reward
  std::vector<CurvePoint> curve;
  std::vector<LossPoint> losses;
  std::optional<AlphaReplay> replay;  ///< none where nobody asked for it

  [[nodiscard]] bool alpha_by_replay() const { return replay && replay->answer == ReplayAnswer::another; }
  [[nodiscard]] bool coupling_by_replay() const {
    return alpha_by_replay() && replay->tried[*replay->chosen].of_coupling != 1.0;
  }
};

/// How much smaller the squared error of gob.lin is than that of a rival, a reward.
struct Comparison {
  std::string rival;  ///< "linucb-ind", "linucb-sin", "rewired"
  double squared_error = 0.0;
  Gain gain;
};

/// One of the graphs with the same degrees and other edges.
struct Rewiring {
  double ridge = 0.0;
  double coupling = 0.0;
  double log_likelihood = 0.0;
  double squared_error = 0.0;
};

/// The gain over linucb-ind, a reward, of some users.
struct GroupGain {
  std::string group;
  std::size_t users = 0;  ///< with rewards
  std::size_t rewards = 0;
  Gain gain;
};

struct UserGain {
  NodeId user = 0;
  std::size_t rewards = 0;
  double gain = 0.0;  ///< over linucb-ind, a reward
};

enum class GraphHelps { yes, no, not_decided };
[[nodiscard]] std::string_view name_of(GraphHelps answer);  // "yes", "no", "not decided"

struct TuneResult {
  std::size_t users = 0;
  std::size_t users_with_rewards = 0;
  std::size_t edges = 0;
  std::size_t rewards = 0;
  std::size_t dimension = 0;
  std::vector<TunedPolicy> policies;
  std::size_t best = 0;         ///< of the policies: the one with the smallest squared error
  double constant_error = 0.0;  ///< squared error of predicting the mean of the rewards so far

  GraphHelps graph_helps = GraphHelps::not_decided;
  std::vector<std::string> reasons;     ///< for that answer, in sentences
  std::vector<std::string> warnings;    ///< about the log, in sentences
  std::vector<Comparison> comparisons;  ///< empty where the graph has no edges
  std::vector<Rewiring> rewirings;
  std::vector<UserGain> user_gains;  ///< ascending users, those with rewards
  std::vector<GroupGain> by_cluster;
  std::vector<GroupGain> by_degree;
  std::vector<GroupGain> by_rewards;

  [[nodiscard]] const TunedPolicy& of(Policy policy) const;
};

/// For each policy the ridge and coupling with which the rewards of a log are most probable (empirical Bayes), or
/// others where these predict each reward from those before it clearly better, and whether the graph helps:
/// docs/tune.md says what is computed.
///
///     const goblin::world::Cliques world({.payoff_noise = 0.5});
///     ...
///     const auto result = goblin::offline::tune(world.graph(), {users, contexts, rewards}, {.dimension = 25});
///     result.graph_helps;                              // yes
///     result.of(goblin::Policy::gob_lin).coupling;
///
/// The rewards are in the order of the log. Time grows with users * d^2 and edges * d for each of some hundred
/// settings; memory with 400 bytes * users * d for each thread. Throws std::invalid_argument if there are fewer than
/// two rewards, if all are the same, if no context has a number other than 0, or if something is not finite. With
/// replay there are as many bandits at a time as alphas are tried, six, and BadRound is thrown, too.
[[nodiscard]] TuneResult tune(const Graph& users, const RewardTable& rewards, const TuneOptions& options);

}  // namespace goblin::offline
