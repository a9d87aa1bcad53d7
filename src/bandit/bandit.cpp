#include "goblin/bandit/bandit.hpp"

#include "bandit/capacity.hpp"
#include "bandit/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

void check_clusters(Policy policy, const Graph& users, std::span<const NodeId> clusters) {
  if (uses_clusters(policy) ? clusters.size() != users.node_count() : !clusters.empty()) {
    throw std::invalid_argument(fmt::format("clusters: {} labels (must be {} for {})", clusters.size(),
                                            uses_clusters(policy) ? users.node_count() : 0, name_of(policy)));
  }
}

std::string_view reason_for(EngineKind asked, EngineKind used, std::size_t nodes, std::size_t dimension) {
  if (asked != EngineKind::automatic) return "forced by option";
  if (choose_engine(asked, nodes, dimension) != used) return "kept from before the graph changed";
  switch (used) {
    case EngineKind::dense:
      return "small: all of its inverse is kept";
    case EngineKind::local:
      return "too large for more: each decision looks around its user";
    default:
      return "large: only the diagonal blocks are kept";
  }
}

}  // namespace

Bandit::Bandit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bandit::Bandit(const Bandit& other) : state_(std::make_unique<State>(*other.state_)) {}
Bandit& Bandit::operator=(const Bandit& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
Bandit::Bandit(Bandit&&) noexcept = default;
Bandit& Bandit::operator=(Bandit&&) noexcept = default;
Bandit::~Bandit() = default;

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
Bandit Bandit::gob_lin_block(const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  return make(Policy::gob_lin_block, users, clusters, options);
}

std::size_t Bandit::estimate_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                                   const BanditOptions& options) {
  check_options(options);
  check_clusters(policy, users, clusters);
  const Graph nodes = goblin::node_graph(policy, users, clusters);
  return bandit_bytes(users, nodes, nodes.components(), options.engine.kind, options.dimension);
}

Bandit Bandit::make(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  check_options(options);
  check_clusters(policy, users, clusters);
  const Graph nodes = goblin::node_graph(policy, users, clusters);
  for (NodeId node = 0; node < nodes.node_count(); ++node) check_degree(options, nodes.degree(node), node);
  const Components components = nodes.components();
  check_fits(bandit_bytes(users, nodes, components, options.engine.kind, options.dimension), policy, users, clusters,
             options);

  auto state =
      std::make_unique<State>(policy, options, LiveGraph(users), std::vector<NodeId>(clusters.begin(), clusters.end()),
                              Evidence(options.dimension, nodes.node_count()));
  state->places.resize(nodes.node_count());
  state->components.reserve(components.count());
  const Graph lone(1);  // shared by all nodes without neighbours
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    const Graph graph = members.size() == 1 ? lone : nodes.induced(members);
    state->add_component({members.begin(), members.end()},
                         make_engine(options.engine.kind, graph, options.dimension, state->prior(), options.engine));
  }
  return Bandit(std::move(state));
}

Decision Bandit::select(UserRef user, Contexts contexts, Mask allowed) const {
  Decision decision;
  select(user, contexts, allowed, decision);
  return decision;
}

void Bandit::select(UserRef user, Contexts contexts, Mask allowed, Decision& decision) const {
  const State& state = *state_;
  const std::size_t d = state.options.dimension;
  const NodeId node = state.node_of(state.find_user(user));
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
  const auto keeps = [allowed](std::size_t arm) { return allowed.empty() || allowed[arm] != 0; };
  for (std::size_t arm = 0; arm < count; ++arm) {
    if (!keeps(arm)) continue;
    try {
      state.check_context(numbers.subspan(arm * d, d));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("candidate {}: {}", arm, error.what()));
    }
  }

  decision.scores.resize(count);
  decision.means.resize(count);
  decision.widths.resize(count);
  decision.bounds.resize(count);
  const Engine& engine = *state.component_of(node).engine;
  decision.engine = engine.kind();
  // Until they become widths, scores and bounds, these are variances and how far variances and means can be off.
  engine.evaluate_with_errors(state.index_of(node), numbers, decision.means, decision.widths, decision.bounds,
                              decision.scores);
  const auto rule_for = [&state](double log_determinant) {
    return ConfidenceRule(state.options.alpha, state.options.printed_bound, state.rewards, log_determinant);
  };
  const ConfidenceRule rule = rule_for(state.log_determinant);
  const ConfidenceRule lowest_rule = rule_for(state.log_determinant - state.log_determinant_error);
  bool found = false;
  for (std::size_t arm = 0; arm < count; ++arm) {
    if (!keeps(arm)) {
      decision.means[arm] = decision.widths[arm] = decision.bounds[arm] = 0.0;
      decision.scores[arm] = -std::numeric_limits<double>::infinity();
      continue;
    }
    const double variance = decision.widths[arm];
    const double lowest_variance = std::max(0.0, variance - decision.scores[arm]);
    decision.widths[arm] = rule.width(variance);
    decision.bounds[arm] += decision.widths[arm] - lowest_rule.width(lowest_variance);
    decision.scores[arm] = decision.means[arm] + decision.widths[arm];
    if (!found || decision.scores[arm] > decision.scores[decision.arm]) decision.arm = arm;
    found = true;
  }
}

std::vector<Ranked> Bandit::rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed) const {
  if (k == 0) throw std::invalid_argument("k: 0 (must be at least 1)");
  const Decision decision = select(user, contexts, allowed);
  std::vector<Ranked> ranked;
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    if (allowed.empty() || allowed[arm] != 0) ranked.push_back({arm, decision.scores[arm]});
  }
  const std::size_t count = std::min(k, ranked.size());
  std::partial_sort(
      ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
      [](const Ranked& a, const Ranked& b) { return a.score > b.score || (a.score == b.score && a.arm < b.arm); });
  ranked.resize(count);
  return ranked;
}

SolveSummary Bandit::update(UserRef user, std::span<const double> context, double reward) {
  const NodeId node = state_->node_of(state_->find_user(user));
  state_->check_context(context);
  state_->check_reward(reward);
  return state_->learn(node, context, reward);
}

SolveSummary Bandit::update(std::span<const Observation> batch) {
  check(batch);
  SolveSummary summary;
  for (const Observation& one : batch) {
    summary.add(state_->learn(state_->node_of(state_->find_user(one.user)), one.context, one.reward));
  }
  return summary;
}

void Bandit::check(std::span<const Observation> batch) const {
  for (std::size_t k = 0; k < batch.size(); ++k) {
    try {
      static_cast<void>(state_->find_user(batch[k].user));
      state_->check_context(batch[k].context);
      state_->check_reward(batch[k].reward);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("batch[{}]: {}", k, error.what()));
    }
  }
}

NodeId Bandit::add_user(std::string_view name, std::optional<NodeId> cluster) {
  State& state = *state_;
  const bool named = state.users.has_names() || state.users.node_count() == 0;
  if (name.empty() && state.users.has_names()) {
    throw std::invalid_argument("name: '' (must not be empty where users have names)");
  }
  if (!name.empty() && !named) {
    throw std::invalid_argument(fmt::format("name: '{}' (must be empty where users have no names)", name));
  }
  if (!name.empty() && state.users.find(name)) {
    throw std::invalid_argument(fmt::format("name: '{}' (must not be a user of the bandit already)", name));
  }
  if (cluster && !uses_clusters(state.policy)) {
    throw std::invalid_argument(fmt::format("cluster: {} (must not be given for {})", *cluster, name_of(state.policy)));
  }
  if (cluster && *cluster > state.cluster_count) {
    throw std::invalid_argument(
        fmt::format("cluster: {} (must be at most the number of clusters, {})", *cluster, state.cluster_count));
  }

  const NodeId user = state.users.add_node(name);
  if (uses_clusters(state.policy)) {
    state.clusters.push_back(cluster.value_or(state.cluster_count));
    state.cluster_count = std::max(state.cluster_count, state.clusters.back() + 1);
  }
  const NodeId node = state.node_of(user);
  if (node == state.evidence.node_count()) {
    state.evidence.add_node();
    const BanditOptions& options = state.options;
    state.add_component({node},
                        make_engine(options.engine.kind, Graph(1), options.dimension, state.prior(), options.engine));
  }
  return user;
}

SolveSummary Bandit::add_edge(UserRef a, UserRef b, double weight) {
  const NodeId first = state_->find_user(a);
  const NodeId second = state_->find_user(b);
  if (first == second) {
    throw std::invalid_argument(fmt::format("edge: joins user {} to itself (must join two users)", first));
  }
  if (!(weight > 0.0 && std::isfinite(weight + state_->users.weight(first, second)))) {
    throw std::invalid_argument(fmt::format("weight: {} (must be finite and positive)", weight));
  }
  return state_->add_edge(first, second, weight);
}

SolveSummary Bandit::remove_edge(UserRef a, UserRef b) {
  const NodeId first = state_->find_user(a);
  const NodeId second = state_->find_user(b);
  if (first == second || state_->users.weight(first, second) == 0.0) {
    throw std::invalid_argument(fmt::format("edge: {} to {} (must be in the graph)", first, second));
  }
  return state_->remove_edge(first, second);
}

void Bandit::set_alpha(double alpha) {
  if (!(std::isfinite(alpha) && alpha >= 0.0)) {
    throw std::invalid_argument(fmt::format("alpha: {} (must be finite and at least 0)", alpha));
  }
  state_->options.alpha = alpha;
}

Policy Bandit::policy() const { return state_->policy; }
const BanditOptions& Bandit::options() const { return state_->options; }
std::size_t Bandit::user_count() const { return state_->users.node_count(); }
NodeId Bandit::user(UserRef user) const { return state_->find_user(user); }
std::optional<NodeId> Bandit::cluster(UserRef user) const {
  const NodeId index = state_->find_user(user);
  return uses_clusters(state_->policy) ? std::optional<NodeId>(state_->clusters[index]) : std::nullopt;
}
NodeId Bandit::node(UserRef user) const { return state_->node_of(state_->find_user(user)); }
Graph Bandit::graph() const { return state_->users.snapshot(); }
const Evidence& Bandit::evidence() const { return state_->evidence; }
std::size_t Bandit::rewards() const { return state_->rewards; }
double Bandit::log_determinant() const { return state_->log_determinant; }
double Bandit::log_determinant_error() const { return state_->log_determinant_error; }

bool Bandit::has_user(UserRef user) const {
  if (const auto* name = std::get_if<std::string_view>(&user.value())) return state_->users.find(*name).has_value();
  return std::get<std::size_t>(user.value()) < user_count();
}

Graph Bandit::node_graph() const {
  std::vector<Edge> edges;
  for (const Component& component : state_->components) {
    for (const Edge& edge : component.engine->graph().edges()) {
      edges.push_back({component.nodes[edge.a], component.nodes[edge.b], edge.weight});
    }
  }
  return {state_->evidence.node_count(), edges};
}

std::vector<double> Bandit::mean(UserRef user) const {
  const NodeId node = this->node(user);
  std::vector<double> result(state_->options.dimension);
  state_->component_of(node).engine->mean(state_->index_of(node), result);
  return result;
}

std::vector<double> Bandit::covariance(UserRef user) const {
  const NodeId node = this->node(user);
  std::vector<double> result(state_->options.dimension * state_->options.dimension);
  state_->component_of(node).engine->covariance(state_->index_of(node), result);
  return result;
}

double Bandit::smoothness(std::span<const double> user_vectors) const {
  const State& state = *state_;
  const std::size_t d = state.options.dimension;
  if (user_vectors.size() != user_count() * d) {
    throw std::invalid_argument(fmt::format("user_vectors: {} numbers (must be {} for each of the {} users)",
                                            user_vectors.size(), d, user_count()));
  }
  const auto squared_distance = [&](std::span<const double> a, std::span<const double> b) {
    double total = 0.0;
    for (std::size_t k = 0; k < d; ++k) total += (a[k] - b[k]) * (a[k] - b[k]);
    return total;
  };
  const std::vector<double> zero(d, 0.0);
  std::vector<std::span<const double>> node_vectors(state.evidence.node_count(), zero);
  std::vector<bool> seen(node_vectors.size(), false);
  for (NodeId user = 0; user < user_count(); ++user) {
    const NodeId node = state.node_of(user);
    const auto vector = user_vectors.subspan(user * d, d);
    if (seen[node] && squared_distance(node_vectors[node], vector) > 0.0) {
      throw std::invalid_argument(
          fmt::format("user_vectors: user {} differs from another of the same node (must be equal)", user));
    }
    node_vectors[node] = vector;
    seen[node] = true;
  }
  double total = 0.0;
  for (const auto& vector : node_vectors) total += state.options.ridge * squared_distance(vector, zero);
  for (const Edge& edge : node_graph().edges()) {
    total += state.options.coupling * edge.weight * squared_distance(node_vectors[edge.a], node_vectors[edge.b]);
  }
  return total;
}

double Bandit::regret_bound(const RegretBoundOptions& options) const {
  return goblin::regret_bound(state_->rewards, state_->log_determinant, state_->options.ridge, options);
}

BanditSummary Bandit::summary() const {
  const State& state = *state_;
  const EngineKind asked = state.options.engine.kind;
  BanditSummary summary{.policy = state.policy,
                        .asked_engine = asked,
                        .users = user_count(),
                        .nodes = state.evidence.node_count(),
                        .edges = 0,
                        .rewards = state.rewards,
                        .unconverged_solves = state.unconverged_solves,
                        .bytes = state.bytes(),
                        .components = {}};
  summary.components.reserve(state.components.size());
  for (const Component& component : state.components) {
    const Engine& engine = *component.engine;
    const std::size_t edges = engine.graph().edge_count();
    summary.edges += edges;
    summary.components.push_back(
        {.nodes = engine.node_count(),
         .edges = edges,
         .engine = engine.kind(),
         .reason = reason_for(asked, engine.kind(), engine.node_count(), state.options.dimension),
         .bytes = engine.bytes()});
  }
  return summary;
}

}  // namespace goblin
