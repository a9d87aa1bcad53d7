#include "goblin/bandit/bandit.hpp"

#include "bandit/capacity.hpp"
#include "bandit/checks.hpp"
#include "bandit/node_priors.hpp"
#include "bandit/state.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "goblin/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

std::string reason_for(EngineKind asked, const Engine& engine, std::size_t dimension) {
  EngineChoice choice = explain_engine(asked, engine.node_count(), engine.graph().edge_count(), dimension);
  return choice.kind == engine.kind() ? std::move(choice.reason) : "kept from before the graph changed";
}

/// Calls check(), and adds to what it throws which item of a list was checked.
template <typename Check>
void check_item(std::string_view list, std::size_t k, const Check& check) {
  const auto message = [&](const std::exception& error) { return fmt::format("{}[{}]: {}", list, k, error.what()); };
  try {
    check();
  } catch (const UnknownUser& error) {
    throw UnknownUser(message(error));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(message(error));
  }
}

}  // namespace

Bandit::Bandit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bandit::Bandit(const Bandit& other) : state_(std::make_unique<State>(other.state())) {}
Bandit& Bandit::operator=(const Bandit& other) {
  if (this != &other) state_ = std::make_unique<State>(other.state());
  return *this;
}
Bandit::Bandit(Bandit&&) noexcept = default;
Bandit& Bandit::operator=(Bandit&&) noexcept = default;
Bandit::~Bandit() = default;

Bandit::State& Bandit::state() const {
  if (!state_) throw std::logic_error("bandit: it was moved from (must not be used before another is assigned to it)");
  return *state_;
}

Bandit Bandit::linucb_sin(const Graph& users, const BanditOptions& options) {
  return make(Policy::linucb_sin, users, {}, options);
}
Bandit Bandit::linucb_ind(const Graph& users, const BanditOptions& options) {
  return make(Policy::linucb_ind, users, {}, options);
}
Bandit Bandit::gob_lin(const Graph& users, const BanditOptions& options) {
  return make(Policy::gob_lin, users, {}, options);
}
Bandit Bandit::gob_lin_macro(const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  return make(Policy::gob_lin_macro, users, clusters, options);
}
Bandit Bandit::linucb_hash(const Graph& users, const BanditOptions& options) {
  return make(Policy::linucb_hash, users, {}, options);
}
Bandit Bandit::gob_lin_block(const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  return make(Policy::gob_lin_block, users, clusters, options);
}

std::size_t Bandit::estimate_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                                   const BanditOptions& options) {
  check_options(options);
  check_policy(policy, options);
  check_clusters(policy, users.node_count(), clusters);
  return bandit_bytes(policy, users, goblin::node_graph(policy, users, clusters), options.engine.kind, options);
}

Bandit Bandit::make(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  check_options(options);
  check_policy(policy, options);
  check_clusters(policy, users.node_count(), clusters);
  const Graph nodes = goblin::node_graph(policy, users, clusters);
  check_node_ridges(options, nodes.node_count());
  const PriorMatrix prior = prior_matrix(options, nodes);
  check_fits(bandit_bytes(policy, users, nodes, options.engine.kind, options), policy, users, clusters, options);
  std::optional<std::size_t> users_with_evidence;
  if (keeps_user_evidence(policy, options)) users_with_evidence = users.node_count();
  return Bandit(std::unique_ptr<State>(
      new State(options, UserMap(policy, users, clusters),
                Belief(prior, lenses_for(policy, options, nodes), options.engine, users_with_evidence))));
}

Decision Bandit::select(UserRef user, Contexts contexts, Mask allowed, const std::optional<Draw>& draw) const {
  Decision decision;
  select(user, contexts, allowed, decision, draw);
  return decision;
}

void Bandit::select(UserRef user, Contexts contexts, Mask allowed, Decision& decision,
                    const std::optional<Draw>& draw) const {
  state().judge(user, contexts, allowed, state().knowledge(), draw, decision).choose(allowed, decision);
}

Choice Bandit::State::judge(UserRef user, Contexts contexts, Mask allowed, const Knowledge& known,
                            const std::optional<Draw>& draw, Decision& decision) const {
  Choice choice(*options.exploration, draw);
  const std::size_t d = options.dimension;
  const NodeId who = users.user(user);
  const NodeId node = users.node_of(who);
  const auto numbers = contexts.numbers();
  if (contexts.dimension() != d) {
    throw std::invalid_argument(fmt::format("contexts: dimension {} (must be {})", contexts.dimension(), d));
  }
  if (numbers.empty() || numbers.size() % d != 0) {
    throw std::invalid_argument(
        fmt::format("contexts: {} numbers (must be a positive multiple of the dimension, {})", numbers.size(), d));
  }
  const std::size_t count = numbers.size() / d;
  if (!allowed.empty()) {
    if (allowed.size() != count) {
      throw std::invalid_argument(
          fmt::format("allowed: {} flags (must be one for each of the {} candidates)", allowed.size(), count));
    }
    if (std::all_of(allowed.begin(), allowed.end(), [](std::uint8_t flag) { return flag == 0; })) {
      throw std::invalid_argument(
          fmt::format("allowed: leaves out all of the {} candidates (must leave at least 1)", count));
    }
  }
  const double longest = belief.longest_context(who, node);
  for (std::size_t arm = 0; arm < count; ++arm) {
    if (!allowed.empty() && allowed[arm] == 0) continue;
    try {
      check_context(numbers.subspan(arm * d, d), d, longest);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("candidate {}: {}", arm, error.what()));
    }
  }

  for (auto* values : {&decision.scores, &decision.means, &decision.widths, &decision.bounds}) values->resize(count);
  decision.engine = belief.engine(node);
  std::vector<double> covariance(choice.needs_covariance() ? d * d : 0);
  belief.evaluate(who, node, numbers, allowed,
                  {.means = decision.means,
                   .variances = decision.widths,
                   .mean_errors = decision.bounds,
                   .variance_errors = decision.scores},
                  covariance);
  choice.score(known, numbers, allowed, std::move(covariance), decision);
  return choice;
}

std::vector<Ranked> Bandit::rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed,
                                 const std::optional<Draw>& draw) const {
  Decision decision;
  std::vector<Ranked> ranked;
  rank(user, contexts, k, allowed, decision, ranked, draw);
  return ranked;
}

void Bandit::rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed, Decision& decision,
                  std::vector<Ranked>& ranked, const std::optional<Draw>& draw) const {
  state().judge(user, contexts, allowed, state().knowledge(), draw, decision).rank(k, allowed, decision, ranked);
}

std::vector<double> Bandit::probabilities(UserRef user, Contexts contexts, Mask allowed, const Draw& draw) const {
  Draw every_arm = draw;
  every_arm.every_arm = true;
  return select(user, contexts, allowed, every_arm).probabilities;
}

SolveSummary Bandit::update(UserRef user, std::span<const double> context, double reward) {
  check(user, context, reward);
  State& state = this->state();
  const NodeId who = state.users.user(user);
  return state.belief.learn(who, state.users.node_of(who), context, reward);
}

SolveSummary Bandit::update(std::span<const Observation> batch) {
  check(batch);
  State& state = this->state();
  std::vector<UserReward> rewards;
  rewards.reserve(batch.size());
  for (const Observation& one : batch) {
    const NodeId who = state.users.user(one.user);
    rewards.push_back({who, state.users.node_of(who), one.context.data(), one.reward});
  }
  return state.belief.learn_many(rewards);
}

SolveSummary Bandit::update(const RewardTable& table) {
  check(table);
  State& state = this->state();
  std::vector<UserReward> rewards;
  rewards.reserve(table.users.size());
  for (std::size_t k = 0; k < table.users.size(); ++k) {
    const NodeId who = table.users[k];
    const double* context = table.contexts.data() + k * state.options.dimension;
    rewards.push_back({who, state.users.node_of(who), context, table.rewards[k]});
  }
  return state.belief.learn_many(rewards);
}

void Bandit::check(UserRef user, std::span<const double> context, double reward) const {
  const State& state = this->state();
  const NodeId who = state.users.user(user);
  check_context(context, state.options.dimension, state.belief.longest_context(who, state.users.node_of(who)));
  check_reward(reward);
}

void Bandit::check(std::span<const Observation> batch) const { check_some(batch, 0, batch.size()); }

void Bandit::check_some(std::span<const Observation> batch, std::size_t first, std::size_t end) const {
  for (std::size_t k = first; k < end; ++k) {
    check_item("batch", k, [&] { check(batch[k].user, batch[k].context, batch[k].reward); });
  }
}

void Bandit::check(const RewardTable& table) const { check_some(table, 0, table.users.size()); }

void Bandit::check_some(const RewardTable& table, std::size_t first, std::size_t end) const {
  const std::size_t count = table.users.size();
  const std::size_t d = state().options.dimension;
  if (table.rewards.size() != count) {
    throw std::invalid_argument(
        fmt::format("rewards: {} (must be one for each of the {} users)", table.rewards.size(), count));
  }
  if (table.contexts.size() != count * d) {
    throw std::invalid_argument(
        fmt::format("contexts: {} numbers (must be {} for each of the {} users)", table.contexts.size(), d, count));
  }
  for (std::size_t k = first; k < end; ++k) {
    check_item("batch", k, [&] { check(table.users[k], table.contexts.subspan(k * d, d), table.rewards[k]); });
  }
}

void Bandit::check_new_user(std::span<const double> context, double reward) const {
  const State& state = this->state();
  // The user shares the only node, or has a new one that nothing is joined to.
  const Policy policy = state.users.policy();
  const bool shares = (policy == Policy::linucb_sin || policy == Policy::linucb_hash) && state.belief.node_count() > 0;
  const double longest = shares ? state.belief.longest_context(static_cast<NodeId>(user_count()), 0)
                                : Limits::length * std::sqrt(state.options.ridge);
  check_context(context, state.options.dimension, longest);
  check_reward(reward);
}

NodeId Bandit::add_user(std::string_view name, std::optional<NodeId> cluster) {
  State& state = this->state();
  const Policy policy = state.users.policy();
  const bool named = state.users.has_names() || state.users.user_count() == 0;
  if (name.empty() && state.users.has_names()) {
    throw std::invalid_argument("name: '' (must not be empty where users have names)");
  }
  if (!name.empty() && !named) {
    throw std::invalid_argument(fmt::format("name: '{}' (must be empty where users have no names)", name));
  }
  if (!name.empty() && state.users.find(name)) {
    throw std::invalid_argument(fmt::format("name: '{}' (must not be a user of the bandit already)", name));
  }
  if (cluster && !uses_clusters(policy)) {
    throw std::invalid_argument(fmt::format("cluster: {} (must not be given for {})", *cluster, name_of(policy)));
  }
  if (cluster && *cluster > state.users.cluster_count()) {
    throw std::invalid_argument(
        fmt::format("cluster: {} (must be at most the number of clusters, {})", *cluster, state.users.cluster_count()));
  }
  const NodeId user = state.users.add_user(name, cluster);
  if (state.belief.has_user_evidence()) state.belief.add_user();
  if (state.users.node_count() > state.belief.node_count()) state.belief.add_node(state.options.ridge);
  return user;
}

namespace {

/// The weight that an edge between users gets, and what it had before. Throws as add_edge and remove_edge do.
struct NewWeight {
  NewWeight(const UserMap& users, const EdgeChange& change)
      : a(users.user(change.a)), b(users.user(change.b)), before(users.weight(a, b)) {
    if (change.weight == 0.0) {
      if (a != b && before > 0.0) return;
      throw std::invalid_argument(
          fmt::format("edge: {} to {} (must be in the graph)", users.describe(a), users.describe(b)));
    }
    if (a == b) {
      throw std::invalid_argument(
          fmt::format("edge: joins user {} to itself (must join two users)", users.describe(a)));
    }
    after = before + change.weight;
    if (!(change.weight > 0.0 && std::isfinite(after))) {
      throw std::invalid_argument(fmt::format("weight: {} (must be finite and positive)", change.weight));
    }
  }

  NodeId a;
  NodeId b;
  double before;
  double after = 0.0;
};

/// Changes the graph of the users, one edge after the other, and then the belief. `check(k, call)` calls call() for the
/// k-th change, and may say more about what that throws.
template <typename Check>
SolveSummary change_edges(const BanditOptions& options, UserMap& users, Belief& belief,
                          std::span<const EdgeChange> changes, Check check) {
  std::vector<NewWeight> done;
  done.reserve(changes.size());
  try {
    std::map<std::pair<NodeId, NodeId>, double> weights;  // of the edges between nodes, as they become
    std::map<NodeId, std::size_t> last_gain;              // which change was the last that may have made a degree grow
    for (std::size_t k = 0; k < changes.size(); ++k) {
      check(k, [&] { done.emplace_back(users, changes[k]); });
      const auto edge = users.set_weight(done[k].a, done[k].b, done[k].after);
      if (!edge) continue;
      weights[std::minmax(edge->a, edge->b)] = edge->weight;
      if (changes[k].weight > 0.0) last_gain[edge->a] = last_gain[edge->b] = k;
    }
    if (options.laplacian == Laplacian::normalized) {
      std::vector<Edge> edges;
      std::map<NodeId, NodePrior> priors;
      for (const auto& [ends, weight] : weights) {
        edges.push_back({ends.first, ends.second, weight});
        for (const NodeId end : {ends.first, ends.second}) {
          priors.insert({end, node_prior(options, end, users.degree(end))});
        }
      }
      std::vector<NodePrior> list;
      for (const auto& [node, prior] : priors) list.push_back(prior);
      return belief.set_edges(edges, list);
    }
    std::vector<Edge> edges;
    std::vector<Edge> joined;
    std::unordered_map<NodeId, double> gains;
    for (const auto& [ends, weight] : weights) {
      const auto [a, b] = ends;
      gains[a] += weight - belief.edge_weight(a, b);
      gains[b] += weight - belief.edge_weight(a, b);
      edges.push_back({a, b, weight});
      if (weight > 0.0) joined.push_back(edges.back());
    }
    for (const auto& [node, k] : last_gain) {
      if (gains[node] <= 0.0) continue;
      check(k,
            [&, node = node] { check_degree(belief.degree(node) + gains[node], belief.largest_degree(node), node); });
    }
    belief.check_joins_fit(joined);
    return belief.set_edges(edges);
  } catch (...) {
    for (auto edge = done.rbegin(); edge != done.rend(); ++edge) users.set_weight(edge->a, edge->b, edge->before);
    throw;
  }
}

SolveSummary change_edge(const BanditOptions& options, UserMap& users, Belief& belief, const EdgeChange& change) {
  return change_edges(options, users, belief, std::span(&change, 1),
                      [](std::size_t /*k*/, const auto& call) { call(); });
}

}  // namespace

SolveSummary Bandit::add_edge(UserRef a, UserRef b, double weight) {
  if (weight == 0.0) throw std::invalid_argument("weight: 0 (must be finite and positive)");
  return change_edge(state().options, state().users, state().belief, {a, b, weight});
}

SolveSummary Bandit::remove_edge(UserRef a, UserRef b) {
  return change_edge(state().options, state().users, state().belief, {a, b, 0.0});
}

SolveSummary Bandit::update_edges(std::span<const EdgeChange> changes) {
  return change_edges(state().options, state().users, state().belief, changes,
                      [](std::size_t k, const auto& call) { check_item("edges", k, call); });
}

SolveSummary Bandit::move_user(UserRef user, NodeId cluster) {
  State& state = this->state();
  const Policy policy = state.users.policy();
  const NodeId who = state.users.user(user);
  if (!uses_clusters(policy)) {
    throw std::invalid_argument(
        fmt::format("policy: {} (must be one with clusters, where users can move)", name_of(policy)));
  }
  if (cluster > state.users.cluster_count()) {
    throw std::invalid_argument(
        fmt::format("cluster: {} (must be at most the number of clusters, {})", cluster, state.users.cluster_count()));
  }
  if (policy == Policy::gob_lin_macro && !state.belief.has_user_evidence()) {
    throw std::invalid_argument(
        "evidence_per_node: true (must be false where users move: what a user brought cannot be told apart)");
  }
  const NodeId from = state.users.cluster_of(who);
  if (cluster == from) return {};
  const std::size_t clusters_before = state.users.cluster_count();
  const auto edges = state.users.move_user(who, cluster);
  const std::size_t nodes_before = state.belief.node_count();
  const std::size_t nodes = state.users.node_count();
  try {
    // A node that is new has no edges yet, and the common ridge.
    const auto weight_of = [&](const UserMap::NodeEdge& edge) {
      return std::max(edge.a, edge.b) < nodes_before ? state.belief.edge_weight(edge.a, edge.b) : 0.0;
    };
    std::unordered_map<NodeId, double> gains;
    std::vector<Edge> joined;
    for (const auto& edge : edges) {
      const double gain = edge.weight - weight_of(edge);
      gains[edge.a] += gain;
      gains[edge.b] += gain;
      if (edge.weight > 0.0) joined.push_back({edge.a, edge.b, edge.weight});
    }
    for (const auto& [node, gain] : gains) {
      if (gain <= 0.0) continue;
      if (node < nodes_before) {
        check_degree(state.belief.degree(node) + gain, state.belief.largest_degree(node), node);
      } else {
        check_degree(gain, Limits::coupling * state.options.ridge / state.options.coupling, node);
      }
    }
    state.belief.check_joins_fit(joined);
  } catch (...) {
    state.users.move_user(who, from);
    state.users.drop_clusters(clusters_before);
    throw;
  }
  while (state.belief.node_count() < nodes) state.belief.add_node(state.options.ridge);
  SolveSummary summary;
  std::vector<Edge> changed;
  changed.reserve(edges.size());
  for (const auto& edge : edges) changed.push_back({edge.a, edge.b, edge.weight});
  summary.add(state.belief.set_edges(changed));
  if (policy == Policy::gob_lin_macro) {
    summary.add(state.belief.move_evidence(who, from, cluster, state.users.members(from)));
  }
  return summary;
}

void Bandit::set_exploration(const Exploration& exploration) {
  check_exploration(exploration);
  state().set_exploration(exploration);
}

void Bandit::set_alpha(double alpha) {
  Exploration changed = exploration();
  if (!std::holds_alternative<Ucb>(changed.rule)) {
    throw std::invalid_argument(fmt::format(
        "alpha: {} (must not be set with the rule {}; set_exploration changes the rule)", alpha, name_of(changed)));
  }
  changed.rule = Ucb{alpha};
  set_exploration(changed);
}

void Bandit::set_threads(std::size_t threads) {
  state().options.engine.threads = threads;
  state().belief.set_threads(threads);
}

void Bandit::set_progress(std::function<void(double)> progress) {
  state().belief.set_progress(progress);
  state().options.engine.progress = std::move(progress);
}

std::size_t Bandit::free_bytes() const {
  return available_bytes(state().options.engine, [this] { return state().belief.bytes(); });
}

Policy Bandit::policy() const { return state().users.policy(); }
const BanditOptions& Bandit::options() const { return state().options; }
const Exploration& Bandit::exploration() const { return *state().options.exploration; }
std::size_t Bandit::user_count() const { return state().users.user_count(); }
std::size_t Bandit::node_count() const { return state().belief.node_count(); }
NodeId Bandit::user(UserRef user) const { return state().users.user(user); }
bool Bandit::has_user(UserRef user) const { return state().users.find(user).has_value(); }
std::optional<NodeId> Bandit::cluster(UserRef user) const {
  const UserMap& users = state().users;
  const NodeId index = users.user(user);
  return uses_clusters(users.policy()) ? std::optional<NodeId>(users.cluster_of(index)) : std::nullopt;
}
NodeId Bandit::node(UserRef user) const { return state().users.node_of(state().users.user(user)); }
Graph Bandit::graph() const { return state().users.graph(); }
Graph Bandit::node_graph() const { return state().belief.graph(); }
std::size_t Bandit::rewards() const { return state().belief.rewards(); }
double Bandit::log_determinant() const { return state().belief.log_determinant(); }
double Bandit::log_determinant_error() const { return state().belief.log_determinant_error(); }

UserEvidence Bandit::evidence(UserRef user) const {
  const State& state = this->state();
  const NodeId who = state.users.user(user);
  if (!has_node_per_user(state.users.policy()) && !state.belief.has_user_evidence()) {
    throw std::invalid_argument("evidence_per_node: true (must be false where a user's own evidence is asked for)");
  }
  return state.belief.evidence(who, state.users.node_of(who));
}

std::vector<double> Bandit::mean(UserRef user) const {
  std::vector<double> result(state().options.dimension);
  const NodeId who = this->user(user);
  state().belief.mean(who, state().users.node_of(who), result);
  return result;
}

std::vector<double> Bandit::covariance(UserRef user) const {
  std::vector<double> result(state().options.dimension * state().options.dimension);
  const NodeId who = this->user(user);
  state().belief.covariance(who, state().users.node_of(who), result);
  return result;
}

SolveSummary Bandit::rebuild() { return state().belief.rebuild(); }

double Bandit::smoothness(std::span<const double> user_vectors) const {
  const State& state = this->state();
  const std::size_t d = state.options.dimension;
  if (user_vectors.size() != user_count() * d) {
    throw std::invalid_argument(fmt::format("user_vectors: {} numbers (must be {} for each of the {} users)",
                                            user_vectors.size(), d, user_count()));
  }
  if (state.belief.lenses().hash()) {
    throw std::invalid_argument(
        fmt::format("policy: {} (must be one whose nodes have vectors like those of users)", name_of(policy())));
  }
  /// |a / factor_a - b / factor_b|^2: vectors of nodes are those of their users behind the lens.
  const auto squared_distance = [&](std::span<const double> a, std::span<const double> b, double factor_a = 1.0,
                                    double factor_b = 1.0) {
    double total = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      const double difference = a[k] / factor_a - b[k] / factor_b;
      total += difference * difference;
    }
    return total;
  };
  const auto factor = [&](NodeId node) { return state.belief.lenses().factor(node); };
  const std::vector<double> zero(d, 0.0);
  std::vector<std::span<const double>> node_vectors(state.belief.node_count(), zero);
  std::vector<bool> seen(node_vectors.size(), false);
  for (NodeId user = 0; user < user_count(); ++user) {
    const NodeId node = state.users.node_of(user);
    const auto vector = user_vectors.subspan(user * d, d);
    if (seen[node] && squared_distance(node_vectors[node], vector) > 0.0) {
      throw std::invalid_argument(
          fmt::format("user_vectors: user {} differs from another of the same node (must be equal)", user));
    }
    node_vectors[node] = vector;
    seen[node] = true;
  }
  double total = 0.0;
  for (NodeId node = 0; node < node_vectors.size(); ++node) {
    total += state.belief.ridge(node) * squared_distance(node_vectors[node], zero, factor(node));
  }
  for (const Edge& edge : node_graph().edges()) {
    total += state.options.coupling * edge.weight *
             squared_distance(node_vectors[edge.a], node_vectors[edge.b], factor(edge.a), factor(edge.b));
  }
  return total;
}

double Bandit::regret_bound(const RegretBoundOptions& options) const {
  return goblin::regret_bound(rewards(), log_determinant(), state().smallest_ridge, options);
}

BanditSummary Bandit::summary() const {
  const State& state = this->state();
  const EngineKind asked = state.options.engine.kind;
  BanditSummary summary{.policy = policy(),
                        .exploration = exploration(),
                        .asked_engine = asked,
                        .users = user_count(),
                        .nodes = node_count(),
                        .edges = 0,
                        .rewards = rewards(),
                        .unconverged_solves = state.belief.unconverged_solves(),
                        .bytes = sizeof(State) + state.users.bytes() + state.belief.bytes(),
                        .components = {}};
  const auto components = state.belief.components();
  summary.components.reserve(components.size());
  for (const auto& component : components) {
    const Engine& engine = *component.engine;
    const std::size_t edges = engine.graph().edge_count();
    summary.edges += edges;
    summary.components.push_back({.nodes = engine.node_count(),
                                  .edges = edges,
                                  .engine = engine.kind(),
                                  .reason = reason_for(asked, engine, state.belief.dimension()),
                                  .bytes = engine.bytes()});
  }
  return summary;
}

}  // namespace goblin
