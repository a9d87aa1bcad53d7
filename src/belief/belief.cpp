#include "belief/belief.hpp"

#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "binary.hpp"
#include "goblin/error.hpp"
#include "graph/graph_binary.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

/// Throws CapacityError if an engine for so large a component would not fit.
void check_join_fits(const EngineOptions& options, std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const EngineFactory& factory = engine_factory();
  const std::size_t needed = factory.bytes(options.kind, nodes, edges, dimension);
  const std::size_t available = available_bytes(options);
  if (needed <= available) return;
  throw CapacityError(fmt::format("joining two components into one of {} nodes with engine {} needs {}, more than the "
                                  "{} there are; the engine sparse needs {}",
                                  nodes, name_of(options.kind), readable_bytes(needed), readable_bytes(available),
                                  readable_bytes(factory.bytes(EngineKind::sparse, nodes, edges, dimension))),
                      needed, available);
}

/// How many rewards are worth a copy of an engine with so many nodes, so that others can read meanwhile. Fewer are
/// learned one by one, without one. (A copy of Last.fm's, sparse, takes 2 to 29 ms, a reward 2 ms; a copy of a
/// million nodes, local, about as long as a thousand rewards.)
std::size_t fewest_for_a_copy(std::size_t nodes) { return std::max<std::size_t>(8, nodes / 1000); }

/// The nodes that can be reached from one of them, ascending.
std::vector<NodeId> reachable(const Graph& graph, NodeId node) {
  const Components components = graph.components();
  const auto nodes = components.nodes(components.of(node));
  return {nodes.begin(), nodes.end()};
}

}  // namespace

Belief::Belief(const PriorMatrix& prior, std::size_t dimension, const EngineOptions& options,
               std::optional<std::size_t> users)
    : options_(options),
      coupling_(prior.coupling()),
      evidence_(dimension, prior.node_count()),
      places_(prior.node_count()) {
  if (users) user_evidence_.emplace(dimension, *users);
  const Components parts = prior.graph().components();
  components_.reserve(parts.count());
  const Graph lone(1);  // shared by all nodes without neighbours
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const auto nodes = parts.nodes(part);
    const PriorMatrix of_part =
        nodes.size() == 1 ? PriorMatrix(lone, prior.ridge(nodes[0]), coupling_) : prior.part(nodes);
    add_component({{nodes.begin(), nodes.end()}, engine_factory().make(options.kind, of_part, dimension, options)});
  }
}

Belief::Belief(const Belief& other)
    : options_(other.options_),
      coupling_(other.coupling_),
      evidence_(other.evidence_),
      user_evidence_(other.user_evidence_),
      rewards_(other.rewards_),
      longest_learned_(other.longest_learned_),
      places_(other.places_),
      log_determinant_(other.log_determinant_),
      log_determinant_error_(other.log_determinant_error_),
      unconverged_solves_(other.unconverged_solves_) {
  components_.reserve(other.components_.size());
  for (const Component& component : other.components_) {
    components_.push_back({component.nodes, component.engine->clone()});
  }
}

double Belief::edge_weight(NodeId a, NodeId b) const {
  if (places_[a].component != places_[b].component) return 0.0;
  return prior_of(a).graph().weight(places_[a].index, places_[b].index);
}

double Belief::largest_degree(NodeId node) const {
  double ratio = Limits::coupling;
  if (engine(node) == EngineKind::sparse) ratio = std::min(ratio, Limits::in_sparse / std::max(1.0, longest_learned_));
  return ratio * ridge(node) / coupling_;
}

Graph Belief::graph() const {
  std::vector<Edge> edges;
  for (const Component& component : components_) {
    for (const Edge& edge : component.engine->graph().edges()) {
      edges.push_back({component.nodes[edge.a], component.nodes[edge.b], edge.weight});
    }
  }
  return {node_count(), edges};
}

void Belief::set_access(Access* access) {
  access_ = access;
  for (const Component& component : components_) component.engine->set_access(access);
}

/// Work on what decisions look at first: components_ and places_.
template <typename Work>
void Belief::exclusively(Work work) {
  if (access_ == nullptr) return work();
  access_->exclusively(work);
}

/// Changes an engine. Where others read it, a copy is changed instead, which then takes the engine's place: they go on
/// with the engine as it was, and it takes the memory of two.
template <typename Change>
Engine::Changed Belief::change_copy(Component& component, Change change) {
  if (access_ == nullptr) return change(*component.engine);
  auto copy = component.engine->clone();
  const Engine::Changed changed = change(*copy);
  copy->set_access(access_);
  exclusively([&] { component.engine.swap(copy); });
  return changed;
}

void Belief::mean(NodeId node, std::span<double> out) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  engine_of(node).mean(places_[node].index, out);
}

void Belief::covariance(NodeId node, std::span<double> out) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  engine_of(node).covariance(places_[node].index, out);
}

void Belief::evaluate(NodeId node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                      const Evaluation& out) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  engine_of(node).evaluate(places_[node].index, contexts, allowed, out);
}

SolveSummary Belief::learn(NodeId user, NodeId node, std::span<const double> context, double reward) {
  double squared_length = 0.0;
  for (const double value : context) squared_length += value * value;
  longest_learned_ = std::max(longest_learned_, std::sqrt(squared_length / ridge(node)));
  // A zero context, as items without a description have, teaches nothing.
  const bool zero = std::all_of(context.begin(), context.end(), [](double value) { return value == 0.0; });
  evidence_.add(node, context, reward);
  if (user_evidence_) user_evidence_->add(user, context, reward);
  ++rewards_;
  const Place place = places_[node];
  if (zero) return {};
  return account_for(components_[place.component].engine->learn(place.index, context, reward).change());
}

/// Adds the rewards to the evidence of their nodes and users. The sums of a place are taken in the order of the
/// rewards, whatever the number of threads.
void Belief::add_evidence(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                          std::size_t threads) {
  for (const std::uint32_t k : by_node) evidence_.reserve(rewards[k].node);
  // A thread takes whole nodes: those that begin within its share.
  const auto begin_of_share = [&](std::size_t share) {
    std::size_t at = by_node.size() * share / threads;
    while (at > 0 && at < by_node.size() && rewards[by_node[at]].node == rewards[by_node[at - 1]].node) ++at;
    return at;
  };
  run_jobs(threads, threads, [&](std::size_t share) {
    for (std::size_t at = begin_of_share(share), end = begin_of_share(share + 1); at < end; ++at) {
      const UserReward& one = rewards[by_node[at]];
      evidence_.add(one.node, {one.context, dimension()}, one.reward);
    }
    return true;
  });
  if (!user_evidence_) return;
  for (const UserReward& one : rewards) user_evidence_->add(one.user, {one.context, dimension()}, one.reward);
}

SolveSummary Belief::learn_many(std::span<const UserReward> rewards) {
  if (rewards.empty()) return {};
  if (rewards.size() == 1) {
    const UserReward& one = rewards.front();
    return learn(one.user, one.node, {one.context, dimension()}, one.reward);
  }
  const std::size_t threads =
      options_.threads > 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::uint32_t> by_node(rewards.size());
  std::iota(by_node.begin(), by_node.end(), 0);
  std::stable_sort(by_node.begin(), by_node.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Place first = places_[rewards[a].node];
    const Place second = places_[rewards[b].node];
    return std::tie(first.component, first.index) < std::tie(second.component, second.index);
  });
  add_evidence(rewards, by_node, rewards.size() < 1000 ? 1 : threads);

  // Component after component, without the contexts that are zero: they teach nothing.
  std::vector<NodeReward> lessons;
  std::vector<std::size_t> begins;
  std::vector<NodeId> parts;
  lessons.reserve(rewards.size());
  for (const std::uint32_t k : by_node) {
    const UserReward& one = rewards[k];
    double squared_length = 0.0;
    for (std::size_t c = 0; c < dimension(); ++c) squared_length += one.context[c] * one.context[c];
    longest_learned_ = std::max(longest_learned_, std::sqrt(squared_length / ridge(one.node)));
    if (std::all_of(one.context, one.context + dimension(), [](double value) { return value == 0.0; })) continue;
    const Place place = places_[one.node];
    if (parts.empty() || place.component != parts.back()) {
      parts.push_back(place.component);
      begins.push_back(lessons.size());
    }
    lessons.push_back({place.index, one.context, one.reward});
  }
  rewards_ += rewards.size();
  begins.push_back(lessons.size());
  std::vector<Engine::Changed> changed(parts.size());
  // Several components side by side, or one with all threads.
  run_jobs(parts.size(), threads, [&](std::size_t part) {
    const auto of_part = std::span(lessons).subspan(begins[part], begins[part + 1] - begins[part]);
    Component& component = components_[parts[part]];
    if (access_ != nullptr && of_part.size() < fewest_for_a_copy(component.nodes.size())) {
      for (const NodeReward& one : of_part) {
        changed[part].add(component.engine->learn(one.node, {one.context, dimension()}, one.reward).change());
      }
      return true;
    }
    changed[part] = change_copy(component, [&](Engine& engine) {
      return engine.learn_many(of_part, evidence_of(component), parts.size() > 1 ? 1 : threads);
    });
    return true;
  });
  SolveSummary summary;
  for (const Engine::Changed& change : changed) summary.add(account_for(change));
  return summary;
}

SolveSummary Belief::account_for(const Engine::Changed& changed) {
  log_determinant_ += changed.log_determinant;
  log_determinant_error_ += changed.error;
  if (!changed.solve.converged) ++unconverged_solves_;
  return changed.solve;
}

void Belief::check_joins_fit(std::span<const std::pair<NodeId, NodeId>> edges) const {
  std::set<NodeId> parts;
  std::set<NodeId> alone;
  for (const auto& [a, b] : edges) {
    for (const NodeId node : {a, b}) {
      if (node < node_count()) {
        parts.insert(places_[node].component);
      } else {
        alone.insert(node);
      }
    }
  }
  if (parts.size() + alone.size() < 2) return;
  std::size_t nodes = alone.size();
  std::size_t edge_count = edges.size();
  for (const NodeId part : parts) {
    nodes += components_[part].engine->node_count();
    edge_count += components_[part].engine->graph().edge_count();
  }
  check_join_fits(options_, nodes, edge_count, dimension());
}

SolveSummary Belief::set_edge(NodeId a, NodeId b, double weight) {
  const double before = edge_weight(a, b);
  if (weight == before) return {};
  if (places_[a].component != places_[b].component) join(a, b);
  Component& component = components_[places_[a].component];
  const auto change = [&](Engine& engine) {
    return engine.set_edge(places_[a].index, places_[b].index, weight, evidence_of(component));
  };
  Engine::Changed changed;
  if (component.engine->kind() == EngineKind::local) {
    exclusively([&] { changed = change(*component.engine); });  // takes less time than a copy
  } else {
    changed = change_copy(component, change);
  }
  if (weight == 0.0) split(a, b);
  return account_for(changed);
}

void Belief::add_node(double ridge) {
  const auto node = static_cast<NodeId>(node_count());
  evidence_.add_place();
  places_.emplace_back();
  add_component(
      {{node}, engine_factory().make(options_.kind, PriorMatrix(Graph(1), ridge, coupling_), dimension(), options_)});
}

SolveSummary Belief::move_evidence(NodeId user, NodeId from, NodeId to, std::span<const NodeId> users) {
  const UserEvidence moved = user_evidence_->at(user);
  if (moved.count == 0) return {};
  const auto change = [&](NodeId node, int sign) {
    const Component& component = components_[places_[node].component];
    return account_for(component.engine->change_evidence(places_[node].index, moved, sign, evidence_of(component)));
  };
  evidence_.add(to, moved);
  SolveSummary summary = change(to, 1);
  // Summed anew, so that no rounding of a difference stays behind.
  evidence_.clear(from);
  for (const NodeId other : users) evidence_.add(from, user_evidence_->at(other));
  summary.add(change(from, -1));
  return summary;
}

SolveSummary Belief::rebuild() {
  SolveSummary summary;
  for (Component& component : components_) {
    const auto changed = change_copy(component, [&](Engine& engine) {
      return Engine::Changed{.log_determinant = 0.0, .error = 0.0, .solve = engine.rebuild(evidence_of(component))};
    });
    summary.add(changed.solve);
  }
  if (!summary.converged) ++unconverged_solves_;
  return summary;
}

std::size_t Belief::bytes() const {
  std::size_t total = sizeof(*this) + evidence_.bytes() + places_.capacity() * sizeof(Place) +
                      components_.capacity() * sizeof(Component);
  if (user_evidence_) total += user_evidence_->bytes();
  for (const Component& component : components_) {
    total += component.nodes.capacity() * sizeof(NodeId) + component.engine->bytes();
  }
  return total;
}

/// Notes where the nodes of a component are.
void Belief::place_nodes_of(std::size_t component) {
  const auto& nodes = components_[component].nodes;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    places_[nodes[index]] = {static_cast<NodeId>(component), static_cast<NodeId>(index)};
  }
}

void Belief::add_component(Component component) {
  component.engine->set_access(access_);
  components_.push_back(std::move(component));
  place_nodes_of(components_.size() - 1);
}

/// The last component takes the place of the one that goes.
void Belief::remove_component(std::size_t component) {
  if (component + 1 < components_.size()) {
    components_[component] = std::move(components_.back());
    place_nodes_of(component);
  }
  components_.pop_back();
}

/// Makes one component of those of two nodes.
void Belief::join(NodeId a, NodeId b) {
  const std::size_t first = places_[a].component;
  const std::size_t second = places_[b].component;
  const Engine& first_engine = *components_[first].engine;
  const Engine& second_engine = *components_[second].engine;
  const std::size_t edges = first_engine.graph().edge_count() + second_engine.graph().edge_count() + 1;
  check_join_fits(options_, first_engine.node_count() + second_engine.node_count(), edges, dimension());

  std::vector<NodeId> nodes = components_[first].nodes;
  nodes.insert(nodes.end(), components_[second].nodes.begin(), components_[second].nodes.end());
  auto engine =
      engine_factory().join(options_.kind, first_engine, second_engine, {evidence_, nodes}, dimension(), options_);
  engine->set_access(access_);
  Component joined{std::move(nodes), std::move(engine)};
  exclusively([&] {
    std::swap(components_[first], joined);
    place_nodes_of(first);
    remove_component(second);
  });
}

/// Makes two components of the one that two nodes share, if no path joins them any more.
void Belief::split(NodeId a, NodeId b) {
  const std::size_t whole = places_[a].component;
  const Engine& engine = *components_[whole].engine;
  const auto near = reachable(engine.graph(), places_[a].index);
  if (std::binary_search(near.begin(), near.end(), places_[b].index)) return;
  const auto far = reachable(engine.graph(), places_[b].index);
  const auto part = [&](const std::vector<NodeId>& indices) {
    Component component{{}, engine.extract(indices, evidence_of(components_[whole]))};
    for (const NodeId index : indices) component.nodes.push_back(components_[whole].nodes[index]);
    return component;
  };
  Component near_part = part(near);
  Component far_part = part(far);
  near_part.engine->set_access(access_);
  exclusively([&] {
    std::swap(components_[whole], near_part);
    place_nodes_of(whole);
    add_component(std::move(far_part));
  });
}

void Belief::save(BinaryWriter& out) const {
  evidence_.save(out);
  out.number(static_cast<std::uint8_t>(user_evidence_ ? 1 : 0));
  if (user_evidence_) user_evidence_->save(out);
  out.size(rewards_);
  out.number(longest_learned_);
  out.size(unconverged_solves_);
  out.number(log_determinant_);
  out.number(log_determinant_error_);
  out.size(components_.size());
  for (const Component& component : components_) {
    const PriorMatrix& prior = component.engine->prior();
    out.array(component.nodes);
    save_graph(out, prior.graph());
    std::vector<double> ridges;
    for (std::size_t node = 0; node < prior.node_count(); ++node) ridges.push_back(prior.ridge(node));
    out.array(ridges);
    out.number(static_cast<std::uint8_t>(component.engine->kind()));
    component.engine->save(out);
  }
}

Belief::Belief(BinaryReader& in, double coupling, std::size_t dimension, const EngineOptions& options)
    : options_(options), coupling_(coupling), evidence_(Evidence::load(in)), places_(evidence_.size()) {
  in.expect(evidence_.dimension() == dimension, "the dimension of the evidence");
  if (in.number<std::uint8_t>() != 0) {
    user_evidence_ = Evidence::load(in);
    in.expect(user_evidence_->dimension() == dimension, "the dimension of the users' evidence");
  }
  rewards_ = in.size();
  longest_learned_ = in.number<double>();
  unconverged_solves_ = in.size();
  log_determinant_ = in.number<double>();
  log_determinant_error_ = in.number<double>();
  for (const double value : {longest_learned_, log_determinant_, log_determinant_error_}) {
    in.expect(std::isfinite(value), "what was learned");
  }
  const std::size_t component_count = in.size(node_count(), "the number of components");
  std::vector<bool> seen(node_count(), false);
  std::size_t seen_count = 0;
  for (std::size_t k = 0; k < component_count; ++k) {
    auto nodes = in.array<std::uint32_t>();
    for (const NodeId node : nodes) {
      in.expect(node < node_count() && !seen[node], "a node of a component");
      seen[node] = true;
      ++seen_count;
    }
    Graph graph = load_graph(in);
    auto ridges = in.array<double>(nodes.size(), "the ridges of a component");
    in.expect(!nodes.empty() && graph.node_count() == nodes.size(), "the size of a component");
    in.expect(graph.components().count() == 1, "a component that is not connected");
    for (const double ridge : ridges) in.expect(ridge >= 1e-100 && ridge <= 1e100, "a ridge");
    const auto kind = static_cast<EngineKind>(in.number<std::uint8_t>());
    in.expect(kind == EngineKind::dense || kind == EngineKind::sparse || kind == EngineKind::local,
              "an engine that does not exist");
    const PriorMatrix prior(std::move(graph), std::move(ridges), coupling);
    add_component({std::move(nodes), engine_factory().load(in, kind, prior, dimension, options)});
  }
  in.expect(seen_count == node_count(), "a node without a component");
}

}  // namespace goblin
