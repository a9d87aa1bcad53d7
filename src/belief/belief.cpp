#include "belief/belief.hpp"

#include "belief/byte_count.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "binary.hpp"
#include "goblin/error.hpp"
#include "graph/graph_binary.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

/// The nodes and edges of some components, which are to become one.
struct Sizes {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::size_t most_nodes = 0;  // of one of them, and its edges
  std::size_t most_edges = 0;

  void add(std::size_t more_nodes, std::size_t more_edges) {
    nodes += more_nodes;
    edges += more_edges;
    if (more_nodes <= most_nodes) return;
    most_nodes = more_nodes;
    most_edges = more_edges;
  }
};

/// Throws CapacityError if an engine for so large a component would not fit.
void check_join_fits(const EngineOptions& options, const Sizes& sizes, std::size_t dimension) {
  const EngineFactory& factory = engine_factory();
  const std::size_t nodes = sizes.nodes;
  const std::size_t edges = sizes.edges;
  std::size_t needed = factory.bytes(options.kind, nodes, edges, dimension);
  // The largest stays where it is if it is local, and the free memory of the machine does not count it.
  if (options.memory_limit == 0 &&
      choose_engine(options.kind, sizes.most_nodes, sizes.most_edges, dimension) == EngineKind::local) {
    needed -= factory.bytes(options.kind, sizes.most_nodes, sizes.most_edges, dimension);
  }
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

/// The nodes that can be reached from a or from b, whichever are fewer, ascending; none if a path joins a and b.
/// Searches from both, an edge at a time, until they meet or one of them knows all of its part.
std::vector<NodeId> cut_off(const EditableGraph& graph, NodeId a, NodeId b) {
  struct Search {
    std::vector<NodeId> reached;
    std::size_t at = 0;    // the node whose edges are walked
    std::size_t edge = 0;  // the next of them
  };
  std::array<Search, 2> searches{Search{{a}}, Search{{b}}};
  std::unordered_map<NodeId, std::size_t> reached_by{{a, 0}, {b, 1}};
  for (std::size_t turn = 0;; turn = 1 - turn) {
    Search& search = searches[turn];
    while (search.at < search.reached.size() && search.edge == graph.neighbours(search.reached[search.at]).size()) {
      ++search.at;
      search.edge = 0;
    }
    if (search.at == search.reached.size()) {
      std::sort(search.reached.begin(), search.reached.end());
      return std::move(search.reached);
    }
    const NodeId next = graph.neighbours(search.reached[search.at])[search.edge++];
    const auto [known, is_new] = reached_by.emplace(next, turn);
    if (known->second != turn) return {};
    if (is_new) search.reached.push_back(next);
  }
}

}  // namespace

Belief::Belief(const PriorMatrix& prior, std::size_t dimension, const EngineOptions& options,
               std::optional<std::size_t> users)
    : options_(options),
      coupling_(prior.coupling()),
      evidence_(dimension, prior.node_count()),
      places_(prior.node_count()) {
  if (users) user_evidence_.emplace(dimension, *users);
  const Components parts = prior.graph().snapshot().components();
  components_.reserve(parts.count());
  const Graph lone(1);  // shared by all nodes without neighbours
  std::size_t made = 0;
  std::size_t told = 0;
  if (options.progress) options.progress(0.0);
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const auto nodes = parts.nodes(part);
    const PriorMatrix of_part =
        nodes.size() == 1 ? PriorMatrix(lone, prior.ridge(nodes[0]), coupling_) : prior.part(nodes);
    add_component({{nodes.begin(), nodes.end()}, engine_factory().make(options.kind, of_part, dimension, options)});
    made += nodes.size();
    if (!options.progress || (100 * (made - told) < node_count() && made < node_count())) continue;
    options.progress(static_cast<double>(made) / static_cast<double>(node_count()));
    told = made;
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

std::size_t Belief::thread_count() const {
  return options_.threads > 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
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

Influence Belief::influence(NodeId node, std::span<const double> context) const {
  const Component& component = components_[places_[node].component];
  Influence result = component.engine->influence(places_[node].index, context);
  for (NodeId& index : result.nodes) index = component.nodes[index];
  return result;
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
  for (const std::uint32_t k : by_node) evidence_.expect(rewards[k].node);
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

/// The rewards component after component and node after node, those of a node as they came. O(rewards + nodes), or less
/// where they are few.
std::vector<std::uint32_t> Belief::order_by_node(std::span<const UserReward> rewards) const {
  std::vector<std::uint32_t> order(rewards.size());
  if (rewards.size() < node_count() / 16) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Place first = places_[rewards[a].node];
      const Place second = places_[rewards[b].node];
      return std::tie(first.component, first.index) < std::tie(second.component, second.index);
    });
    return order;
  }
  // Counting sort by the position of the node if all components stood one after the other.
  std::vector<std::size_t> begins(components_.size() + 1, 0);
  for (std::size_t k = 0; k < components_.size(); ++k) begins[k + 1] = begins[k] + components_[k].nodes.size();
  const auto position = [&](const UserReward& one) {
    return begins[places_[one.node].component] + places_[one.node].index;
  };
  std::vector<std::uint32_t> next(node_count() + 1, 0);
  for (const UserReward& one : rewards) ++next[position(one) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t k = 0; k < rewards.size(); ++k) order[next[position(rewards[k])]++] = static_cast<std::uint32_t>(k);
  return order;
}

void Belief::check_bulk_fits(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node) const {
  constexpr std::size_t many = 1000;
  if (rewards.size() < many) return;
  const auto count = static_cast<double>(rewards.size());
  std::size_t new_places = 0;  // with evidence, of nodes and of users
  double engine_bytes = 0.0;
  double fixed = 0.0;
  const auto add_part = [&](std::size_t part, std::size_t part_rewards, std::size_t nodes) {
    const Engine::BulkBytes bytes = components_[part].engine->bulk_bytes(part_rewards, nodes);
    engine_bytes += bytes.a_reward * static_cast<double>(part_rewards);
    fixed += bytes.fixed;
  };
  std::size_t part_rewards = 0;
  std::size_t nodes = 0;
  for (std::size_t k = 0; k < by_node.size(); ++k) {
    const NodeId node = rewards[by_node[k]].node;
    const NodeId before = k == 0 ? node : rewards[by_node[k - 1]].node;
    if (k > 0 && places_[node].component != places_[before].component) {
      add_part(places_[before].component, part_rewards, nodes);
      part_rewards = nodes = 0;
    }
    ++part_rewards;
    if (k > 0 && node == before) continue;
    ++nodes;
    if (evidence_.at(node).count == 0) ++new_places;
  }
  add_part(places_[rewards[by_node.back()].node].component, part_rewards, nodes);
  if (user_evidence_) {
    std::size_t without = 0;
    for (const UserReward& one : rewards) without += user_evidence_->at(one.user).count == 0 ? 1 : 0;
    new_places += std::min(without, user_evidence_->size());
  }
  const double varying = engine_bytes + static_cast<double>(Evidence::bytes(dimension(), new_places));
  const std::size_t needed = byte_count(varying + fixed);
  constexpr std::size_t little = 10'000'000;  // not worth to ask the machine what it has
  if (options_.memory_limit == 0 && needed < little) return;
  std::size_t available = available_bytes(options_);
  if (options_.memory_limit > 0) available -= std::min(available, bytes());
  if (needed <= available) return;
  const double left = static_cast<double>(available) - fixed;
  throw CapacityError(fmt::format("learning {} rewards at once needs {}, more than the {} there are; {}",
                                  rewards.size(), readable_bytes(needed), readable_bytes(available),
                                  left > 0.0 && varying > 0.0
                                      ? fmt::format("what would fit: {} at once", std::floor(count * left / varying))
                                      : "nothing fits but a few at a time"),
                      needed, available);
}

SolveSummary Belief::learn_many(std::span<const UserReward> rewards) {
  if (rewards.empty()) return {};
  if (rewards.size() == 1) {
    const UserReward& one = rewards.front();
    return learn(one.user, one.node, {one.context, dimension()}, one.reward);
  }
  const std::size_t threads = thread_count();
  const std::vector<std::uint32_t> by_node = order_by_node(rewards);
  check_bulk_fits(rewards, by_node);
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
  const auto learn_part = [&](std::size_t part, std::size_t with_threads) {
    const auto of_part = std::span(lessons).subspan(begins[part], begins[part + 1] - begins[part]);
    Component& component = components_[parts[part]];
    if (access_ != nullptr && of_part.size() < fewest_for_a_copy(component.nodes.size())) {
      for (const NodeReward& one : of_part) {
        changed[part].add(component.engine->learn(one.node, {one.context, dimension()}, one.reward).change());
      }
      return;
    }
    changed[part] = change_copy(
        component, [&](Engine& engine) { return engine.learn_many(of_part, evidence_of(component), with_threads); });
  };
  // Large components one after the other with all threads, small ones side by side.
  constexpr std::size_t large = 100;
  const auto is_large = [&](std::size_t part) { return components_[parts[part]].nodes.size() >= large; };
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (is_large(part)) learn_part(part, threads);
  }
  run_jobs(parts.size(), threads, [&](std::size_t part) {
    if (!is_large(part)) learn_part(part, 1);
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
  // What the edges join is told by its lowest part: a component, or a node that is not there yet and so is its own.
  const auto part_of = [this](NodeId node) {
    return node < node_count() ? std::size_t{places_[node].component} : components_.size() + node;
  };
  std::map<std::size_t, std::size_t> joined_to;  // a part to another one of the same whole, the lowest to itself
  const auto whole_of = [&](std::size_t part) {
    joined_to.emplace(part, part);
    while (joined_to[part] != part) part = joined_to[part] = joined_to[joined_to[part]];
    return part;
  };
  for (const auto& [a, b] : edges) {
    const std::size_t first = whole_of(part_of(a));
    const std::size_t second = whole_of(part_of(b));
    joined_to[std::max(first, second)] = std::min(first, second);
  }
  std::map<std::size_t, Sizes> wholes;
  for (const auto& [part, to] : joined_to) {
    Sizes& sizes = wholes[whole_of(part)];
    if (part < components_.size()) {
      const Engine& engine = *components_[part].engine;
      sizes.add(engine.node_count(), engine.graph().edge_count());
    } else {
      sizes.add(1, 0);
    }
  }
  for (auto& [part, sizes] : wholes) {
    if (sizes.nodes == sizes.most_nodes) continue;  // nothing is joined
    sizes.edges += edges.size();
    check_join_fits(options_, sizes, dimension());
  }
}

SolveSummary Belief::set_edges(std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    if (edge.weight > 0.0 && places_[edge.a].component != places_[edge.b].component) join(edge.a, edge.b);
  }
  std::map<NodeId, std::vector<Edge>> by_component;
  for (const Edge& edge : edges) {
    if (edge.weight == edge_weight(edge.a, edge.b)) continue;
    const Place a = places_[edge.a];
    by_component[a.component].push_back({a.index, places_[edge.b].index, edge.weight});
  }
  SolveSummary summary;
  for (const auto& [part, changes] : by_component) {
    Component& component = components_[part];
    const auto change = [&, &edges_there = changes](Engine& engine) {
      return engine.set_edges(edges_there, evidence_of(component));
    };
    Engine::Changed changed;
    if (component.engine->kind() == EngineKind::local) {
      exclusively([&] { changed = change(*component.engine); });  // takes less time than a copy
    } else {
      changed = change_copy(component, change);
    }
    summary.add(account_for(changed));
  }
  std::vector<NodeId> ends;
  for (const Edge& edge : edges) {
    if (edge.weight == 0.0) ends.insert(ends.end(), {edge.a, edge.b});
  }
  split_between(ends);
  return summary;
}

/// Makes components of the parts that these nodes are in, if edges that went left them without a path to each other.
/// Every part has one of the nodes.
void Belief::split_between(std::span<const NodeId> ends) {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<NodeId, NodeId> first_of;  // end in each component
    for (const NodeId end : ends) {
      const auto [first, is_new] = first_of.emplace(places_[end].component, end);
      if (!is_new && first->second != end && split(first->second, end)) {
        changed = true;
        break;
      }
    }
  }
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
  const std::size_t threads = thread_count();
  for (Component& component : components_) {
    const auto changed = change_copy(component, [&](Engine& engine) {
      return Engine::Changed{
          .log_determinant = 0.0, .error = 0.0, .solve = engine.rebuild(evidence_of(component), threads)};
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

/// The last component takes the place of the one that goes. If it is a large one it goes to the front, where it will
/// not have to move again.
void Belief::remove_component(std::size_t component) {
  if (component + 1 < components_.size()) {
    components_[component] = std::move(components_.back());
    if (components_[component].nodes.size() > components_.front().nodes.size()) {
      std::swap(components_[component], components_.front());
      place_nodes_of(0);
    }
    place_nodes_of(component);
  }
  components_.pop_back();
}

/// Makes one component of those of two nodes. The larger one takes in the smaller one, if its engine can.
void Belief::join(NodeId a, NodeId b) {
  std::size_t larger = places_[a].component;
  std::size_t smaller = places_[b].component;
  if (components_[larger].nodes.size() < components_[smaller].nodes.size()) std::swap(larger, smaller);
  const Component& other = components_[smaller];
  if (components_[larger].engine->kind() == EngineKind::local) {
    exclusively([&] {
      Component& whole = components_[larger];
      const std::size_t before = whole.nodes.size();
      whole.nodes.insert(whole.nodes.end(), other.nodes.begin(), other.nodes.end());
      whole.engine->absorb(*other.engine, {evidence_, whole.nodes});
      for (std::size_t index = before; index < whole.nodes.size(); ++index) {
        places_[whole.nodes[index]] = {static_cast<NodeId>(larger), static_cast<NodeId>(index)};
      }
      remove_component(smaller);
    });
    return;
  }
  Component joined{components_[larger].nodes, nullptr};
  joined.nodes.insert(joined.nodes.end(), other.nodes.begin(), other.nodes.end());
  joined.engine = engine_factory().join(options_.kind, *components_[larger].engine, *other.engine,
                                        {evidence_, joined.nodes}, dimension(), options_);
  joined.engine->set_access(access_);
  exclusively([&] {
    std::swap(components_[larger], joined);
    place_nodes_of(larger);
    remove_component(smaller);
  });
}

/// Makes two components of the one that two nodes share, if no path joins them any more: the nodes that can be reached
/// from one of them, and the rest.
bool Belief::split(NodeId a, NodeId b) {
  const std::size_t whole = places_[a].component;
  const Engine& engine = *components_[whole].engine;
  const std::vector<NodeId> smaller = cut_off(engine.graph(), places_[a].index, places_[b].index);
  if (smaller.empty()) return false;
  std::vector<NodeId> larger;
  larger.reserve(engine.node_count() - smaller.size());
  for (NodeId index = 0, next = 0; index < engine.node_count(); ++index) {
    if (next < smaller.size() && smaller[next] == index) {
      ++next;
    } else {
      larger.push_back(index);
    }
  }
  const auto part = [&](const std::vector<NodeId>& indices) {
    Component component{{}, engine.extract(indices, evidence_of(components_[whole]))};
    component.nodes.reserve(indices.size());
    for (const NodeId index : indices) component.nodes.push_back(components_[whole].nodes[index]);
    return component;
  };
  Component smaller_part = part(smaller);
  Component larger_part = part(larger);
  larger_part.engine->set_access(access_);
  exclusively([&] {
    std::swap(components_[whole], larger_part);
    place_nodes_of(whole);
    add_component(std::move(smaller_part));
  });
  return true;
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
    save_graph(out, prior.graph().snapshot());
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
