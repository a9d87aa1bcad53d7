#include "bandit/state.hpp"

#include "bandit/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

/// A reward beyond this is taken for a mistake; its square is still finite.
constexpr double largest_reward = 1e100;
/// |x|^2 / ridge and coupling * degree / ridge are how many times more the evidence or the graph says than the ridge.
/// The belief keeps sixteen digits less those of this ratio.
constexpr double largest_ratio = 1e10;

}  // namespace

void check_options(const BanditOptions& options) {
  const auto check = [](bool good, const char* name, auto value, const char* bound) {
    if (!good) throw std::invalid_argument(fmt::format("{}: {} (must be {})", name, value, bound));
  };
  check(options.dimension >= 1 && options.dimension <= 1'000'000, "dimension", options.dimension,
        "between 1 and 1000000");
  check(std::isfinite(options.alpha) && options.alpha >= 0.0, "alpha", options.alpha, "finite and at least 0");
  check(options.ridge >= 1e-100 && options.ridge <= 1e100, "ridge", options.ridge, "between 1e-100 and 1e100");
  check(options.coupling >= 0.0 && options.coupling <= 1e100, "coupling", options.coupling, "between 0 and 1e100");
  check(options.engine.tolerance > 0.0 && options.engine.tolerance < 1.0, "engine.tolerance", options.engine.tolerance,
        "above 0 and below 1");
  check(options.engine.max_iterations >= 1, "engine.max_iterations", options.engine.max_iterations, "at least 1");
  const LocalOptions& local = options.engine.local;
  check(local.tolerance > 0.0 && std::isfinite(local.tolerance), "engine.local.tolerance", local.tolerance,
        "finite and above 0");
  check(local.most_nodes >= 2 && local.most_nodes <= 1'000'000, "engine.local.most_nodes", local.most_nodes,
        "between 2 and 1000000");
  check(local.most_edges >= 1, "engine.local.most_edges", local.most_edges, "at least 1");
  if (options.printed_bound) {
    const PrintedBound& bound = *options.printed_bound;
    check(std::isfinite(bound.noise) && bound.noise >= 0.0, "printed_bound.noise", bound.noise,
          "finite and at least 0");
    check(bound.delta > 0.0 && bound.delta <= 1.0, "printed_bound.delta", bound.delta, "above 0 and at most 1");
    check(std::isfinite(bound.norm) && bound.norm >= 0.0, "printed_bound.norm", bound.norm, "finite and at least 0");
  }
}

Bandit::State::State(const State& other)
    : policy(other.policy),
      options(other.options),
      users(other.users),
      clusters(other.clusters),
      cluster_count(other.cluster_count),
      evidence(other.evidence),
      edges_between(other.edges_between),
      rewards(other.rewards),
      unconverged_solves(other.unconverged_solves),
      log_determinant(other.log_determinant),
      log_determinant_error(other.log_determinant_error),
      places(other.places) {
  components.reserve(other.components.size());
  for (const Component& component : other.components) {
    components.push_back({component.nodes, component.engine->clone()});
  }
}

NodeId Bandit::State::find_user(UserRef user) const {
  if (const auto* name = std::get_if<std::string_view>(&user.value())) {
    const auto found = users.find(*name);
    if (!found) throw std::invalid_argument(fmt::format("user: '{}' (must be a user of the bandit)", *name));
    return *found;
  }
  const std::size_t index = std::get<std::size_t>(user.value());
  if (index >= users.node_count()) {
    const auto shown = static_cast<std::ptrdiff_t>(index);
    throw std::invalid_argument(
        fmt::format("user: {} (must be below the number of users, {})", shown, users.node_count()));
  }
  return static_cast<NodeId>(index);
}

NodeId Bandit::State::node_of(NodeId user) const {
  switch (policy) {
    case Policy::linucb_sin:
      return 0;
    case Policy::gob_lin_macro:
      return clusters[user];
    default:
      return user;
  }
}

std::size_t Bandit::State::bytes() const {
  std::size_t total = sizeof(*this) + users.bytes() + evidence.bytes() + clusters.capacity() * sizeof(NodeId) +
                      places.capacity() * sizeof(Place) + components.capacity() * sizeof(Component);
  for (const Component& component : components) {
    total += component.nodes.capacity() * sizeof(NodeId) + component.engine->bytes();
  }
  return total;
}

/// Notes where the nodes of a component are.
void Bandit::State::put(std::size_t component) {
  const auto& nodes = components[component].nodes;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (nodes[index] >= places.size()) places.resize(nodes[index] + std::size_t{1});
    places[nodes[index]] = {static_cast<NodeId>(component), static_cast<NodeId>(index)};
  }
}

void Bandit::State::add_component(std::vector<NodeId> nodes, std::unique_ptr<Engine> engine) {
  components.push_back({std::move(nodes), std::move(engine)});
  put(components.size() - 1);
}

/// The last component takes the place of the one that goes.
void Bandit::State::remove_component(std::size_t component) {
  if (component + 1 < components.size()) {
    components[component] = std::move(components.back());
    put(component);
  }
  components.pop_back();
}

void Bandit::State::check_context(std::span<const double> context) const {
  if (context.size() != options.dimension) {
    throw std::invalid_argument(
        fmt::format("context: {} numbers (must be the dimension, {})", context.size(), options.dimension));
  }
  double squared_length = 0.0;
  for (std::size_t k = 0; k < context.size(); ++k) {
    if (!std::isfinite(context[k])) {
      throw std::invalid_argument(fmt::format("context[{}]: {} (must be finite)", k, context[k]));
    }
    squared_length += context[k] * context[k];
  }
  if (!(squared_length <= largest_ratio * options.ridge)) {
    throw std::invalid_argument(
        fmt::format("context: length {:g} (must be at most {:g}, 1e5 times the root of the ridge; scale the contexts)",
                    std::sqrt(squared_length), std::sqrt(largest_ratio * options.ridge)));
  }
}

void Bandit::State::check_reward(double reward) const {
  if (!(std::abs(reward) <= largest_reward)) {
    throw std::invalid_argument(
        fmt::format("reward: {} (must be finite and at most {} in size)", reward, largest_reward));
  }
}

void check_degree(const BanditOptions& options, double degree, NodeId node) {
  if (options.coupling * degree <= largest_ratio * options.ridge) return;
  throw std::invalid_argument(
      fmt::format("degree: {:g} of node {} (coupling * degree / ridge must be at most {:g}; scale the weights)", degree,
                  node, largest_ratio));
}

SolveSummary Bandit::State::learn(NodeId node, std::span<const double> context, double reward) {
  // A zero context, as items without a description have, teaches nothing.
  const bool zero = std::all_of(context.begin(), context.end(), [](double value) { return value == 0.0; });
  const auto learned = zero ? Engine::Learned{} : component_of(node).engine->learn(index_of(node), context, reward);
  evidence.add(node, context, reward);
  ++rewards;
  log_determinant += std::log1p(learned.variance);
  log_determinant_error += std::log1p(learned.variance) - std::log1p(learned.variance - learned.variance_error);
  if (!learned.solve.converged) ++unconverged_solves;
  return learned.solve;
}

std::optional<std::pair<NodeId, NodeId>> Bandit::State::nodes_joined(NodeId user_a, NodeId user_b) const {
  const bool seen = policy == Policy::gob_lin ||
                    (policy == Policy::gob_lin_macro && clusters[user_a] != clusters[user_b]) ||
                    (policy == Policy::gob_lin_block && clusters[user_a] == clusters[user_b]);
  if (!seen) return std::nullopt;
  return std::pair(node_of(user_a), node_of(user_b));
}

SolveSummary Bandit::State::add_edge(NodeId user_a, NodeId user_b, double weight) {
  const double before = users.weight(user_a, user_b);
  SolveSummary summary;
  if (const auto nodes = nodes_joined(user_a, user_b)) {
    const auto [a, b] = *nodes;
    for (const NodeId node : {a, b}) {
      check_degree(options, component_of(node).engine->graph().degree(index_of(node)) + weight, node);
    }
    summary = change_edge(a, b, weight);
    if (policy == Policy::gob_lin_macro && before == 0.0) ++edges_between[edge_key(a, b)];
  }
  users.set_weight(user_a, user_b, before + weight);
  return summary;
}

SolveSummary Bandit::State::remove_edge(NodeId user_a, NodeId user_b) {
  SolveSummary summary;
  if (const auto nodes = nodes_joined(user_a, user_b)) {
    const auto [a, b] = *nodes;
    // The last edge between two nodes takes all of the weight along, and no rounding stays behind.
    const bool last = policy != Policy::gob_lin_macro || --edges_between[edge_key(a, b)] == 0;
    const double weight =
        last ? component_of(a).engine->graph().weight(index_of(a), index_of(b)) : users.weight(user_a, user_b);
    summary = change_edge(a, b, -weight);
  }
  users.set_weight(user_a, user_b, 0.0);
  return summary;
}

/// Adds to the weight of an edge between nodes.
SolveSummary Bandit::State::change_edge(NodeId a, NodeId b, double change) {
  if (places[a].component != places[b].component) join(a, b);
  Component& component = component_of(a);
  const auto changed = component.engine->change_edge(index_of(a), index_of(b), change, evidence_of(component.nodes));
  log_determinant += changed.log_determinant - static_cast<double>(options.dimension) * changed.prior_log_determinant;
  log_determinant_error += changed.error;
  if (!changed.solve.converged) ++unconverged_solves;
  if (change < 0.0) split(a, b);
  return changed.solve;
}

std::vector<Engine::NodeEvidence> Bandit::State::evidence_of(std::span<const NodeId> nodes) const {
  std::vector<Engine::NodeEvidence> result;
  result.reserve(nodes.size());
  for (const NodeId node : nodes) result.push_back({evidence.contexts(node), evidence.rewards(node)});
  return result;
}

/// Makes one component of those of two nodes.
void Bandit::State::join(NodeId a, NodeId b) {
  const std::size_t first = places[a].component;
  const std::size_t second = places[b].component;
  const Engine& first_engine = *components[first].engine;
  const Engine& second_engine = *components[second].engine;
  const std::size_t edges = first_engine.graph().edge_count() + second_engine.graph().edge_count() + 1;
  check_join_fits(options, first_engine.node_count() + second_engine.node_count(), edges);

  std::vector<NodeId> nodes = components[first].nodes;
  nodes.insert(nodes.end(), components[second].nodes.begin(), components[second].nodes.end());
  auto joined = join_engines(options.engine.kind, first_engine, second_engine, evidence_of(nodes), options.dimension,
                             prior(), options.engine);
  components[first] = {std::move(nodes), std::move(joined)};
  put(first);
  remove_component(second);
}

/// Makes two components of the one that two nodes share, if no path joins them any more.
void Bandit::State::split(NodeId a, NodeId b) {
  const std::size_t whole = places[a].component;
  const Engine& engine = *components[whole].engine;
  const auto near = engine.reachable(index_of(a));
  if (std::binary_search(near.begin(), near.end(), static_cast<NodeId>(index_of(b)))) return;
  const auto far = engine.reachable(index_of(b));
  const auto part = [&](const std::vector<NodeId>& indices) {
    Component component{{}, engine.extract(indices)};
    for (const NodeId index : indices) component.nodes.push_back(components[whole].nodes[index]);
    return component;
  };
  Component near_part = part(near);
  Component far_part = part(far);
  components[whole] = std::move(near_part);
  put(whole);
  add_component(std::move(far_part.nodes), std::move(far_part.engine));
}

}  // namespace goblin
