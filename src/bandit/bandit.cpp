#include "goblin/bandit/bandit.hpp"

#include "bandit/capacity.hpp"
#include "bandit/checks.hpp"
#include "bandit/complete_contexts.hpp"
#include "bandit/node_priors.hpp"
#include "bandit/online_clusters.hpp"
#include "bandit/state.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "belief/work.hpp"
#include "goblin/error.hpp"
#include "vectors.hpp"

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
  EngineChoice choice = explain_engine(asked, shape_of(engine.prior()), dimension);
  return choice.kind == engine.kind() ? std::move(choice.reason) : "kept as it was made";
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

std::string describe_node(const Graph& nodes, NodeId node) {
  return nodes.has_names() ? fmt::format("user '{}' (node {})", nodes.names()[node], node)
                           : fmt::format("node {}", node);
}

/// The options with the ridge that is used.
BanditOptions with_ridge(Policy policy, BanditOptions options) {
  if (!options.ridge) options.ridge = info_of(policy).usual_ridge;
  return options;
}

/// Throws std::invalid_argument if edges, to the hub or between friends, are too heavy beside the ridges.
void check_beside_hub(const Graph& users, const BanditOptions& options) {
  check_hub(options.hub, users.node_count(), Limits::coupling * options.hub.ridge);
  for (NodeId user = 0; user < users.node_count(); ++user) {
    const double ridge = user < options.node_ridges.size() ? options.node_ridges[user] : *options.ridge;
    check_hub_beside_user(options.hub, ridge);
    const double room = Limits::coupling * ridge - options.hub.weight;
    if (options.coupling * users.degree(user) <= room) continue;
    check_degree(users.degree(user), room / options.coupling, [&] {
      return users.has_names() ? fmt::format("user '{}'", users.names()[user]) : fmt::format("user {}", user);
    });
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
Bandit Bandit::gob_lin_hub(const Graph& users, const BanditOptions& options) {
  return make(Policy::gob_lin_hub, users, {}, options);
}
Bandit Bandit::club(const Graph& users, const BanditOptions& options) { return make(Policy::club, users, {}, options); }
Bandit Bandit::dynucb(const Graph& users, const BanditOptions& options) {
  return make(Policy::dynucb, users, {}, options);
}

std::size_t Bandit::estimate_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                                   const BanditOptions& given) {
  const BanditOptions options = with_ridge(policy, given);
  check_options(options);
  check_policy(policy, options);
  check_clusters(policy, users.node_count(), clusters);
  check_forgetting(policy, options);
  check_online_clusters(policy, options, users.node_count());
  return bandit_bytes(policy, users, clusters, options);
}

Bandit Bandit::make(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& given) {
  const BanditOptions options = with_ridge(policy, given);
  check_options(options);
  check_policy(policy, options);
  check_forgetting(policy, options);
  check_clusters(policy, users.node_count(), clusters);
  check_online_clusters(policy, options, users.node_count());
  if (has_hub(policy)) check_beside_hub(users, options);
  Graph nodes = goblin::node_graph(policy, users, clusters, options);
  check_node_ridges(options, nodes.node_count() - (has_hub(policy) ? 1 : 0));
  const double coupling = node_coupling(policy, options);
  std::vector<double> ridges = node_ridges(policy, users.node_count(), options);
  const bool normalized = options.laplacian == Laplacian::normalized;
  if (normalized) ridges = normalized_ridges(options, nodes);
  for (NodeId node = 0; !has_hub(policy) && !normalized && node < nodes.node_count(); ++node) {
    const double ridge = ridges.empty() ? *options.ridge : ridges[node];
    check_degree(nodes.degree(node), Limits::coupling * ridge / coupling,
                 [&, node] { return describe_node(nodes, node); });
  }
  check_fits(policy, users, clusters, options);
  auto online_clusters = make_online_clusters(policy, users, options);
  OnlineClusters::Labels found;
  if (online_clusters) {
    found = online_clusters->first_labels();
    nodes = Graph(found.count);
    clusters = found.of;
  }
  const PriorMatrix prior =
      ridges.empty() ? PriorMatrix(nodes, *options.ridge, coupling) : PriorMatrix(nodes, std::move(ridges), coupling);
  std::optional<std::size_t> users_with_evidence;
  if (keeps_user_evidence(policy, options)) users_with_evidence = users.node_count();
  return Bandit(std::unique_ptr<State>(new State(options, UserMap(policy, users, clusters, options, found.count),
                                                 Belief(prior, lenses_for(policy, options, nodes), options.engine,
                                                        users_with_evidence, taken_from(policy, options)),
                                                 std::move(online_clusters))));
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
      check_context(numbers.subspan(arm * d, d), options, longest);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("candidate {}: {}", arm, error.what()));
    }
  }

  for (auto* values : {&decision.scores, &decision.means, &decision.widths, &decision.bounds}) values->resize(count);
  decision.engine = belief.engine(node);
  std::vector<double> covariance(choice.needs_covariance() ? options.weight_count() * options.weight_count() : 0);
  CompleteContexts room(options, count);
  const auto complete = room.complete(numbers);
  belief.evaluate(who, node, complete, allowed,
                  {.means = decision.means,
                   .variances = decision.widths,
                   .mean_errors = decision.bounds,
                   .variance_errors = decision.scores},
                  covariance);
  choice.score(known, complete, allowed, std::move(covariance), decision);
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
  CompleteContexts room(state().options, 1);
  const RewardWindow::Entry one{state().users.user(user), room.complete(context).data(), reward};
  return state().learn({&one, 1});
}

SolveSummary Bandit::update(std::span<const Observation> batch) {
  check(batch);
  CompleteContexts room(state().options, batch.size());
  std::vector<RewardWindow::Entry> rewards;
  rewards.reserve(batch.size());
  for (const Observation& one : batch) {
    rewards.push_back({state().users.user(one.user), room.complete(one.context).data(), one.reward});
  }
  return state().learn(rewards);
}

SolveSummary Bandit::update(const RewardTable& table) {
  check(table);
  CompleteContexts room(state().options, table.users.size());
  const auto contexts = room.complete(table.contexts);
  std::vector<RewardWindow::Entry> rewards;
  rewards.reserve(table.users.size());
  for (std::size_t k = 0; k < table.users.size(); ++k) {
    rewards.push_back({table.users[k], contexts.data() + k * weight_count(), table.rewards[k]});
  }
  return state().learn(rewards);
}

SolveSummary Bandit::State::learn_in_order(std::span<const RewardWindow::Entry> rewards) {
  const auto learn_one = [d = options.weight_count()](State& state, const RewardWindow::Entry& one) {
    const NodeId node = state.users.node_of(one.user);
    SolveSummary summary = state.belief.learn(one.user, node, {one.context, d}, one.reward);
    const UserEvidence evidence = state.belief.evidence(one.user, node);
    summary.add(state.move(state.online_clusters->learn(one.user, evidence, state.users)));
    return summary;
  };
  if (rewards.size() == 1) return learn_one(*this, rewards.front());
  return change_in_a_copy(rewards.size(), [&](State& copy, std::size_t k) { return learn_one(copy, rewards[k]); });
}

SolveSummary Bandit::State::move(std::span<const UsersMove> moves) {
  SolveSummary summary;
  if (moves.empty()) return summary;
  belief.exclusively([&] {
    const NodeId from = users.cluster_of(moves.front().users.front());
    users.move_users(from, moves);
    while (belief.node_count() < users.node_count()) belief.add_node(*options.ridge);
    summary = belief.move_evidence(from, moves, users.members(from));
  });
  return summary;
}

SolveSummary Bandit::State::change_in_a_copy(std::size_t count,
                                             const std::function<SolveSummary(State&, std::size_t)>& change) {
  constexpr std::size_t tell_every = 256;
  SolveSummary summary;
  if (count == 0) return summary;
  belief.check_copy_fits();
  State copy(*this);
  for (std::size_t k = 0; k < count; ++k) {
    summary.add(change(copy, k));
    const bool tells = options.engine.progress && ((k + 1) % tell_every == 0 || k + 1 == count);
    if (tells) options.engine.progress(static_cast<double>(k + 1) / static_cast<double>(count));
  }
  copy.belief.set_access(belief.access());
  belief.exclusively([&] { std::swap(*this, copy); });
  return summary;
}

void Bandit::check(UserRef user, std::span<const double> context, double reward) const {
  const State& state = this->state();
  const NodeId who = state.users.user(user);
  check_context(context, state.options, state.belief.longest_context(who, state.users.node_of(who)));
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
  // The user shares the only node, or has a new one that nothing is joined to, or only the hub.
  const Policy policy = state.users.policy();
  const auto user = static_cast<NodeId>(user_count());
  const bool shares = (policy == Policy::linucb_sin || policy == Policy::linucb_hash) && state.belief.node_count() > 0;
  double longest = shares ? state.belief.longest_context(user, 0) : Limits::length * std::sqrt(*state.options.ridge);
  if (has_hub(policy)) longest = std::min(longest, state.belief.longest_context(user, hub_node));
  check_context(context, state.options, longest);
  check_reward(reward);
}

NodeId Bandit::add_user(std::string_view name, std::optional<NodeId> cluster) {
  const NodeId user = add_user_alone(name, cluster);
  try {
    join_to_hub(user);
  } catch (...) {
    remove_user_alone(user);
    throw;
  }
  return user;
}

void Bandit::join_to_hub(NodeId user) {
  if (const auto edge = state().users.hub_edge(user)) state().belief.join_new_node(*edge);
}

/// Where there was no memory for the way back from the hub either, the user stays.
void Bandit::remove_user_alone(NodeId user) {
  State& state = this->state();
  if (!state.belief.is_alone(state.users.node_of(user))) return;
  state.users.keep_first(user, state.users.cluster_count());
  state.belief.keep_first(user, state.users.node_count());
}

/// Throws what may keep a new user from being joined to the hub.
void Bandit::State::check_new_hub_edge() const {
  const auto new_user = static_cast<NodeId>(users.user_count());
  const auto edge = users.hub_edge(new_user);
  if (!edge) return;
  check_hub(options.hub, users.present_count() + 1, belief.largest_degree(hub_node));
  check_hub_beside_user(options.hub, *options.ridge);
  belief.check_joins_fit(std::span(&*edge, 1), *options.ridge);
}

NodeId Bandit::add_user_alone(std::string_view name, std::optional<NodeId> cluster) {
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
  state.check_new_hub_edge();
  const std::size_t users = state.users.user_count();
  const std::size_t clusters = state.users.cluster_count();
  const std::size_t nodes = state.belief.node_count();
  try {
    if (state.online_clusters) cluster = state.online_clusters->add_user(state.users);
    const NodeId user = state.users.add_user(name, cluster);
    if (state.belief.has_user_evidence()) state.belief.add_user();
    while (state.users.node_count() > state.belief.node_count()) state.belief.add_node(*state.options.ridge);
    if (state.online_clusters) state.online_clusters->joined(*cluster);
    return user;
  } catch (...) {
    if (state.online_clusters) state.online_clusters->keep_first(users);
    state.users.keep_first(users, clusters);
    state.belief.keep_first(users, nodes);
    throw;
  }
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
    std::map<NodeId, std::size_t> last_change;            // which change was the last of a node's degree
    std::map<NodeId, std::size_t> last_gain;              // and the last that may have made it grow
    for (std::size_t k = 0; k < changes.size(); ++k) {
      check(k, [&] { done.emplace_back(users, changes[k]); });
      const auto edge = users.set_weight(done[k].a, done[k].b, done[k].after);
      if (!edge) continue;
      weights[std::minmax(edge->a, edge->b)] = edge->weight;
      last_change[edge->a] = last_change[edge->b] = k;
      if (changes[k].weight > 0.0) last_gain[edge->a] = last_gain[edge->b] = k;
    }
    if (options.laplacian == Laplacian::normalized) {
      std::vector<Edge> edges;
      std::map<NodeId, NodePrior> priors;
      for (const auto& [ends, weight] : weights) {
        edges.push_back({ends.first, ends.second, weight});
        for (const NodeId end : {ends.first, ends.second}) {
          check(last_change[end], [&] { priors.insert({end, node_prior(options, end, users.degree(end))}); });
        }
      }
      std::vector<NodePrior> list;
      list.reserve(priors.size());
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
      check(k, [&, node = node] {
        check_degree(users.degree_among_friends(belief.degree(node) + gains[node]),
                     users.degree_among_friends(belief.largest_degree(node)),
                     [&] { return users.describe_node(node); });
      });
    }
    belief.check_joins_fit(joined, *options.ridge);
    return belief.set_edges(edges);
  } catch (...) {
    for (auto edge = done.rbegin(); edge != done.rend(); ++edge) users.set_weight(edge->a, edge->b, edge->before);
    throw;
  }
}

constexpr auto plainly = [](std::size_t /*k*/, const auto& call) { call(); };

}  // namespace

SolveSummary Bandit::State::change_edge(const EdgeChange& change) {
  if (!online_clusters) return change_edges(options, users, belief, std::span(&change, 1), plainly);
  const NewWeight weight(users, change);
  SolveSummary summary = change_edges(options, users, belief, std::span(&change, 1), plainly);
  if ((weight.before > 0.0) == (weight.after > 0.0)) return summary;
  summary.add(move(online_clusters->change_friends(weight.a, weight.b, weight.after > 0.0, users)));
  return summary;
}

SolveSummary Bandit::add_edge(UserRef a, UserRef b, double weight) {
  if (weight == 0.0) throw std::invalid_argument("weight: 0 (must be finite and positive)");
  return state().change_edge({a, b, weight});
}

SolveSummary Bandit::remove_edge(UserRef a, UserRef b) { return state().change_edge({a, b, 0.0}); }

SolveSummary Bandit::update_edges(std::span<const EdgeChange> changes) {
  State& state = this->state();
  const auto check = [](std::size_t k, const auto& call) { check_item("edges", k, call); };
  if (!state.online_clusters) return change_edges(state.options, state.users, state.belief, changes, check);
  return state.change_in_a_copy(changes.size(), [&](State& copy, std::size_t k) {
    SolveSummary summary;
    check(k, [&] { summary = copy.change_edge(changes[k]); });
    return summary;
  });
}

SolveSummary Bandit::State::remove_user(NodeId user) {
  std::vector<EdgeChange> edges;
  users.for_each_friend(user, [&](NodeId other, double /*weight*/) { edges.push_back({user, other, 0.0}); });
  SolveSummary summary = change_edges(options, users, belief, edges, plainly);
  const NodeId node = users.node_of(user);
  if (auto edge = users.hub_edge(user)) {
    edge->weight = 0.0;
    summary.add(belief.set_edges(std::span(&*edge, 1)));
  }
  std::vector<NodeId> stay;
  if (!has_node_per_user(users.policy())) {
    users.for_each_user_of(node, [&](NodeId other) {
      if (other != user) stay.push_back(other);
    });
  }
  std::vector<UserReward> rewards;
  for (std::size_t k = 0; window && k < window->size(); ++k) {
    if ((*window)[k].user == user) rewards.push_back(at_node((*window)[k]));
  }
  summary.add(belief.forget_user(user, node, rewards, stay));
  if (online_clusters) summary.add(move(online_clusters->remove_user(user, users)));
  users.remove_user(user);
  if (window) {
    window->remove(user);
    belief.set_bytes_beside(window->bytes());
  }
  return summary;
}

SolveSummary Bandit::remove_users(std::span<const UserRef> users) {
  State& state = this->state();
  for (std::size_t k = 0; k < users.size(); ++k) {
    check_item("users", k, [&] { (void)state.users.user(users[k]); });
  }
  if (!has_node_per_user(state.users.policy()) && !state.belief.has_user_evidence()) {
    throw std::invalid_argument(
        "evidence_per_node: true (must be false where users are removed: what a user brought cannot be told apart)");
  }
  // Each user is a share of the whole, in several steps.
  const Work all{.threads = 1, .spare_bytes = {}, .progress = never_back(state.options.engine.progress)};
  const auto share = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(users.size()); };
  return state.change_in_a_copy(users.size(), [&](State& copy, std::size_t k) {
    SolveSummary summary;
    copy.belief.set_progress(all.part(share(k), share(k + 1)).progress);
    check_item("users", k, [&] { summary = copy.remove_user(copy.users.user(users[k])); });
    if (k + 1 < users.size()) return summary;
    copy.belief.set_progress(copy.options.engine.progress);
    copy.users.free_names();
    return summary;
  });
}

SolveSummary Bandit::remove_user(UserRef user) {
  const UserRef index = this->user(user);
  return remove_users(std::span(&index, 1));
}

SolveSummary Bandit::move_user(UserRef user, NodeId cluster) {
  State& state = this->state();
  const Policy policy = state.users.policy();
  const NodeId who = state.users.user(user);
  if (!uses_clusters(policy)) {
    throw std::invalid_argument(
        finds_clusters(policy)
            ? fmt::format("policy: {} (must be one whose clusters are given: this one moves users itself)",
                          name_of(policy))
            : fmt::format("policy: {} (must be one with clusters, where users can move)", name_of(policy)));
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
  const std::size_t nodes_before = state.belief.node_count();
  SolveSummary summary;
  try {
    const auto edges = state.users.move_user(who, cluster);
    const std::size_t nodes = state.users.node_count();
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
      const auto whose = [&, node = node] { return state.users.describe_node(node); };
      if (node < nodes_before) {
        check_degree(state.belief.degree(node) + gain, state.belief.largest_degree(node), whose);
      } else {
        check_degree(gain, Limits::coupling * *state.options.ridge / state.options.coupling, whose);
      }
    }
    state.belief.check_joins_fit(joined, *state.options.ridge);
    std::vector<Edge> before;
    std::vector<Edge> changed;
    before.reserve(edges.size());
    changed.reserve(edges.size());
    for (const auto& edge : edges) {
      before.push_back({edge.a, edge.b, weight_of(edge)});
      changed.push_back({edge.a, edge.b, edge.weight});
    }
    while (state.belief.node_count() < nodes) state.belief.add_node(*state.options.ridge);
    summary.add(state.belief.set_edges(changed));
    if (policy == Policy::gob_lin_macro) {
      try {
        const UsersMove move{.users = {who}, .to = cluster};
        summary.add(state.belief.move_evidence(from, std::span(&move, 1), state.users.members(from)));
      } catch (...) {
        state.belief.take_edges_back(before);
        throw;
      }
    }
  } catch (...) {
    state.users.move_back(who, from, clusters_before);
    state.belief.keep_first(state.users.user_count(), nodes_before);
    throw;
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
  return has_clusters(users.policy()) ? std::optional<NodeId>(users.cluster_of(index)) : std::nullopt;
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
  std::vector<double> result(weight_count());
  const NodeId who = this->user(user);
  state().belief.mean(who, state().users.node_of(who), result);
  return result;
}

std::vector<double> Bandit::covariance(UserRef user) const {
  std::vector<double> result(weight_count() * weight_count());
  const NodeId who = this->user(user);
  state().belief.covariance(who, state().users.node_of(who), result);
  return result;
}

SolveSummary Bandit::rebuild() { return state().belief.rebuild(); }

double Bandit::smoothness(std::span<const double> user_vectors) const {
  const State& state = this->state();
  const std::size_t d = weight_count();
  if (user_vectors.size() != user_count() * d) {
    throw std::invalid_argument(fmt::format("user_vectors: {} numbers (must be {} for each of the {} users)",
                                            user_vectors.size(), d, user_count()));
  }
  if (state.belief.lenses().hash()) {
    throw std::invalid_argument(
        fmt::format("policy: {} (must be one whose nodes have vectors like those of users)", name_of(policy())));
  }
  // The vectors of nodes are those of their users behind the lens, divided by its factor.
  std::vector<double> node_vectors(state.belief.node_count() * d, 0.0);
  const auto of_node = [&](NodeId node) { return std::span(node_vectors).subspan(node * d, d); };
  std::vector<bool> seen(state.belief.node_count(), false);
  for (NodeId user = 0; user < user_count(); ++user) {
    if (state.users.is_removed(user)) continue;
    const NodeId node = state.users.node_of(user);
    std::vector<double> vector(d);
    for (std::size_t k = 0; k < d; ++k) vector[k] = user_vectors[user * d + k] / state.belief.lenses().factor(node);
    if (seen[node] && squared_distance(of_node(node), vector) > 0.0) {
      throw std::invalid_argument(
          fmt::format("user_vectors: user {} differs from another of the same node (must be equal)", user));
    }
    std::copy(vector.begin(), vector.end(), of_node(node).begin());
    seen[node] = true;
  }
  if (has_hub(policy())) {
    // What the sum's derivative is zero at: the users' average, drawn to zero by the hub's ridge.
    const double weight = state.options.hub.weight;
    const double precision = state.options.hub.ridge + weight * static_cast<double>(state.users.present_count());
    for (std::size_t k = 0; k < user_vectors.size(); ++k) {
      if (!state.users.is_removed(k / d)) of_node(hub_node)[k % d] += weight / precision * user_vectors[k];
    }
  }
  double total = 0.0;
  for (NodeId node = 0; node < state.belief.node_count(); ++node) {
    total += state.belief.ridge(node) * squared_length(of_node(node));
  }
  for (const Edge& edge : node_graph().edges()) {
    total += state.belief.coupling() * edge.weight * squared_distance(of_node(edge.a), of_node(edge.b));
  }
  return total;
}

double Bandit::prior_precision() const {
  const State& state = this->state();
  if (state.belief.lenses().hash()) {
    double stretch = std::sqrt(2.0);
    for (NodeId user = 0; user < user_count(); ++user) {
      if (state.users.is_removed(user)) continue;
      stretch = std::max(stretch, state.belief.lenses().of(user, 0).stretch());
    }
    return state.smallest_ridge / (stretch * stretch);
  }
  if (!has_hub(policy())) return state.smallest_ridge;
  // Friends only add to what the star says: variance 1 / (ridge + weight) of one's own, and a share of the hub's.
  const double weight = state.options.hub.weight;
  double of_hub = state.options.hub.ridge;
  for (NodeId user = 0; user < user_count(); ++user) {
    if (state.users.is_removed(user)) continue;
    const double ridge = state.belief.ridge(state.users.node_of(user));
    of_hub += weight * ridge / (ridge + weight);
  }
  const double own = state.smallest_ridge + weight;
  const double share = weight / own;
  return 1.0 / (1.0 / own + share * share / of_hub);
}

double Bandit::regret_bound(const RegretBoundOptions& options) const {
  return goblin::regret_bound(rewards(), log_determinant(), prior_precision(), options);
}

BanditSummary Bandit::summary() const {
  const State& state = this->state();
  const EngineKind asked = state.options.engine.kind;
  BanditSummary summary{.policy = policy(),
                        .exploration = exploration(),
                        .asked_engine = asked,
                        .users = state.users.present_count(),
                        .nodes = node_count(),
                        .clusters = state.users.used_cluster_count(),
                        .edges = 0,
                        .rewards = rewards(),
                        .unconverged_solves = state.belief.unconverged_solves(),
                        .bytes = sizeof(State) + state.users.bytes() + state.belief.bytes(),
                        .components = {}};
  if (state.online_clusters) summary.bytes += state.online_clusters->bytes();
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
