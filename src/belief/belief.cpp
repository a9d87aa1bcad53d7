#include "belief/belief.hpp"

#include "belief/byte_count.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "binary.hpp"
#include "goblin/error.hpp"
#include "graph/cut_off.hpp"
#include "graph/graph_binary.hpp"
#include "graph/remove_places.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

/// Some components, and nodes that are not there yet, which are to become one component.
struct Whole {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::size_t new_nodes = 0;
  std::vector<NodeId> components;
  std::vector<const Engine*> engines;  // of the components

  void add(NodeId component, const Engine& engine) {
    nodes += engine.node_count();
    edges += engine.graph().edge_count();
    components.push_back(component);
    engines.push_back(&engine);
  }
  [[nodiscard]] std::size_t part_count() const { return components.size() + new_nodes; }
  [[nodiscard]] bool has(EngineKind kind) const {
    return std::any_of(engines.begin(), engines.end(), [&](const Engine* engine) { return engine->kind() == kind; });
  }
  [[nodiscard]] const Engine* largest() const {
    const auto found = std::max_element(engines.begin(), engines.end(), [](const Engine* a, const Engine* b) {
      return a->node_count() < b->node_count();
    });
    return found == engines.end() ? nullptr : *found;
  }
  [[nodiscard]] ComponentShape shape(double ridge_of_new) const {
    return {.nodes = nodes, .edges = edges, .pull = [this, ridge_of_new] {
              Pull pull;
              for (const Engine* engine : engines) pull.add(engine->prior());
              for (std::size_t node = 0; node < new_nodes; ++node) pull.add(0.0, ridge_of_new);
              return pull.value();
            }};
  }
  /// What EngineFactory::join makes of it.
  [[nodiscard]] EngineKind kind(EngineKind wanted, double ridge_of_new, std::size_t dimension) const {
    if (has(EngineKind::local)) return EngineKind::local;
    const EngineKind chosen = choose_engine(wanted, shape(ridge_of_new), dimension);
    if (chosen == EngineKind::local) return EngineKind::local;
    return chosen == EngineKind::dense && !has(EngineKind::sparse) ? EngineKind::dense : EngineKind::sparse;
  }
};

/// Throws CapacityError if an engine for so large a component would not fit.
void check_join_fits(const EngineOptions& options, const Whole& whole, EngineKind kind, std::size_t dimension) {
  const EngineFactory& factory = engine_factory();
  std::size_t needed = factory.bytes(kind, whole.nodes, whole.edges, dimension);
  // The largest stays where it is if it is local, and the free memory of the machine does not count it.
  const Engine* const largest = whole.largest();
  if (options.memory_limit == 0 && largest != nullptr && largest->kind() == EngineKind::local) {
    needed -= factory.bytes(EngineKind::local, largest->node_count(), largest->graph().edge_count(), dimension);
  }
  check_memory(
      fmt::format("joining two components into one of {} nodes with engine {}", whole.nodes, name_of(options.kind)),
      static_cast<double>(needed), options, [] { return std::size_t{0}; },
      [&](std::size_t /*available*/) {
        return fmt::format("the engine sparse needs {}",
                           readable_bytes(factory.bytes(EngineKind::sparse, whole.nodes, whole.edges, dimension)));
      });
}

}  // namespace

Belief::Belief(const PriorMatrix& prior, Lenses lenses, const EngineOptions& options, std::optional<std::size_t> users,
               TakenFrom taken_from)
    : options_(options),
      coupling_(prior.coupling()),
      lenses_(std::move(lenses)),
      evidence_(lenses_.node_dimension(), prior.node_count(), taken_from.nodes),
      places_(prior.node_count()) {
  if (users) user_evidence_.emplace(lenses_.dimension(), *users, taken_from.users);
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
    add_component({{nodes.begin(), nodes.end()}, engine_factory().make(options.kind, of_part, dimension(), options)});
    made += nodes.size();
    if (!options.progress || (100 * (made - told) < node_count() && made < node_count())) continue;
    options.progress(static_cast<double>(made) / static_cast<double>(node_count()));
    told = made;
  }
}

Belief::Belief(const Belief& other)
    : options_(other.options_),
      coupling_(other.coupling_),
      lenses_(other.lenses_),
      evidence_(other.evidence_),
      user_evidence_(other.user_evidence_),
      rewards_(other.rewards_),
      bytes_beside_(other.bytes_beside_),
      longest_learned_(other.longest_learned_),
      places_(other.places_),
      log_determinant_(other.log_determinant_),
      log_determinant_error_(other.log_determinant_error_),
      unconverged_solves_(other.unconverged_solves_),
      structure_(other.structure_) {
  components_.reserve(other.components_.size());
  for (const Component& component : other.components_) {
    components_.push_back(
        {component.nodes, component.engine->clone(), component.log_determinant, component.log_determinant_error});
  }
}

double Belief::edge_weight(NodeId a, NodeId b) const {
  if (places_[a].component != places_[b].component) return 0.0;
  return prior_of(a).graph().weight(places_[a].index, places_[b].index);
}

double Belief::largest_degree(NodeId node, EngineKind kind) const {
  double ratio = Limits::coupling;
  if (kind == EngineKind::sparse) ratio = std::min(ratio, Limits::in_sparse / std::max(1.0, longest_learned_));
  return ratio * ridge(node) / coupling_;
}

double Belief::length_at(NodeId node, std::span<const double> learned) const {
  return std::sqrt(squared_length(learned) / ridge(node));
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

void Belief::set_progress(const std::function<void(double)>& progress) {
  options_.progress = progress;
  for (const Component& component : components_) component.engine->set_progress(progress);
}

void Belief::take_prior_variances(const Belief& copy) const {
  if (copy.structure_ != structure_) return;
  for (std::size_t part = 0; part < components_.size(); ++part) {
    components_[part].engine->take_prior_variances(*copy.components_[part].engine);
  }
}

void Belief::set_access(Access* access) {
  access_ = access;
  for (const Component& component : components_) component.engine->set_access(access);
}

/// Work on what decisions look at first: components_ and places_.
void Belief::exclusively(const std::function<void()>& work) {
  if (access_ == nullptr) return work();
  access_->exclusively(work);
}

/// Gives a component another engine, and what it had.
void Belief::exchange(Component& component, std::unique_ptr<Engine>& engine) {
  engine->set_access(access_);
  exclusively([&] { component.engine.swap(engine); });
}

void Belief::mean(NodeId user, NodeId node, std::span<double> out) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  if (lenses_.are_plain()) return engine_of(node).mean(places_[node].index, out);
  std::vector<double> at_node(dimension());
  engine_of(node).mean(places_[node].index, at_node);
  lenses_.of(user, node).to_user(at_node, out);
}

/// What a user who hashes sees of a node: P^T w and P^T C P. Whoever calls is reading the node.
void Belief::look(const Lens& lens, NodeId node, std::span<double> mean, std::span<double> covariance) const {
  const Engine& engine = engine_of(node);
  const auto places = lens.places();
  const std::size_t k = places.size();
  std::vector<double> vector(k);
  std::vector<double> matrix(k * k);
  if (!engine.gather(places_[node].index, places, vector, matrix)) {
    std::vector<double> all(dimension() * dimension());
    engine.covariance(places_[node].index, all);
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < k; ++r) matrix[c * k + r] = all[places[c] * dimension() + places[r]];
    }
    all.resize(dimension());
    engine.mean(places_[node].index, all);
    for (std::size_t c = 0; c < k; ++c) vector[c] = all[places[c]];
  }
  lens.gathered_to_user(vector, matrix, mean, covariance);
}

void Belief::covariance(NodeId user, NodeId node, std::span<double> out) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  if (lenses_.hash()) {
    std::vector<double> mean(lenses_.dimension());
    return look(lenses_.of(user, node), node, mean, out);
  }
  engine_of(node).covariance(places_[node].index, out);
  const double factor = lenses_.factor(node);
  for (double& value : out) value *= factor * factor;
}

void Belief::evaluate(NodeId user, NodeId node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                      const Evaluation& out, std::span<double> covariance) const {
  const Reading reading(access_, [&] { return engine_of(node).place(places_[node].index); });
  const Engine& engine = engine_of(node);
  const NodeId index = places_[node].index;
  if (lenses_.are_plain()) {
    engine.evaluate(index, contexts, allowed, out);
    if (!covariance.empty()) engine.covariance(index, covariance);
    return;
  }
  const std::size_t d = lenses_.dimension();
  const Lens lens = lenses_.of(user, node);
  if (lens.hashes() && engine.kind() == EngineKind::dense) {
    // The node is large; what the user sees of it is not.
    std::vector<double> mean(d);
    std::vector<double> seen(d * d);
    look(lens, node, mean, seen);
    std::fill(out.mean_errors.begin(), out.mean_errors.end(), 0.0);
    std::fill(out.variance_errors.begin(), out.variance_errors.end(), 0.0);
    for (std::size_t arm = 0; arm < out.means.size(); ++arm) {
      if (!allowed.empty() && allowed[arm] == 0) continue;
      const double* const x = contexts.data() + arm * d;
      double variance = 0.0;
      for (std::size_t c = 0; c < d; ++c) {
        variance += x[c] * std::inner_product(x, x + d, seen.data() + c * d, 0.0);
      }
      out.means[arm] = std::inner_product(x, x + d, mean.data(), 0.0);
      out.variances[arm] = std::max(0.0, variance);
    }
    if (!covariance.empty()) std::copy(seen.begin(), seen.end(), covariance.begin());
    return;
  }
  std::vector<double> at_node(out.means.size() * dimension());
  for (std::size_t arm = 0; arm < out.means.size(); ++arm) {
    if (!allowed.empty() && allowed[arm] == 0) continue;
    lens.to_node(contexts.subspan(arm * d, d), std::span(at_node).subspan(arm * dimension(), dimension()));
  }
  engine.evaluate(index, at_node, allowed, out);
  if (covariance.empty()) return;
  if (lens.hashes()) {
    std::vector<double> mean(d);
    return look(lens, node, mean, covariance);
  }
  engine.covariance(index, covariance);
  for (double& value : covariance) value *= lens.factor() * lens.factor();
}

double Belief::longest_context(NodeId user, NodeId node) const {
  const double longest = engine_of(node).longest_context();
  return lenses_.are_plain() ? longest : longest / lenses_.of(user, node).stretch();
}

Influence Belief::influence(NodeId user, NodeId node, std::span<const double> context) const {
  const Component& component = components_[places_[node].component];
  std::vector<double> at_node(dimension());
  lenses_.of(user, node).to_node(context, at_node);
  Influence result = component.engine->influence(places_[node].index, at_node);
  for (NodeId& index : result.nodes) index = component.nodes[index];
  return result;
}

SolveSummary Belief::learn(NodeId user, NodeId node, std::span<const double> context, double reward) {
  UserReward one{user, node, context.data(), reward};
  std::vector<double> at_node(lenses_.are_plain() ? 0 : dimension());
  if (!lenses_.are_plain()) {
    lenses_.of(user, node).to_node(context, at_node);
    one.at_node = at_node.data();
  }
  return learn(one);
}

/// Whose context the node can learn as it is.
SolveSummary Belief::learn(const UserReward& one) {
  const std::span<const double> learned(one.learned(), dimension());
  // What takes memory comes first, so that the evidence has what the engine has learned.
  evidence_.reserve(one.node);
  if (user_evidence_) user_evidence_->reserve(one.user);
  const Place place = places_[one.node];
  SolveSummary summary;
  // A zero context, as items without a description have, teaches nothing.
  if (!is_zero(learned)) {
    Component& component = components_[place.component];
    try {
      summary = account_for(place.component, component.engine->learn(place.index, learned, one.reward).change());
    } catch (...) {
      (void)rebuild(component, {});
      throw;
    }
  }
  evidence_.add(one.node, learned, one.reward);
  if (user_evidence_) user_evidence_->add(one.user, {one.context, lenses_.dimension()}, one.reward);
  longest_learned_ = std::max(longest_learned_, length_at(one.node, learned));
  ++rewards_;
  return summary;
}

SolveSummary Belief::account_for(NodeId component, const Engine::Changed& changed) {
  if (lenses_.scale()) {
    components_[component].log_determinant += changed.log_determinant;
    components_[component].log_determinant_error += changed.error;
  }
  log_determinant_ += changed.log_determinant;
  log_determinant_error_ += changed.error;
  if (!changed.solve.converged) ++unconverged_solves_;
  return changed.solve;
}

/// Throws std::invalid_argument if a node of these components has too large a degree for the engine sparse, once the
/// edges have their weights.
void Belief::check_degrees_in_sparse(std::span<const NodeId> parts, std::span<const Edge> edges) const {
  std::unordered_map<NodeId, double> gains;
  for (const Edge& edge : edges) {
    for (const NodeId end : {edge.a, edge.b}) {
      if (std::max(edge.a, edge.b) < node_count()) gains[end] += edge.weight - edge_weight(edge.a, edge.b);
    }
  }
  for (const NodeId part : parts) {
    for (const NodeId node : components_[part].nodes) {
      const auto gain = gains.find(node);
      const double degree = this->degree(node) + (gain == gains.end() ? 0.0 : gain->second);
      const double largest = largest_degree(node, EngineKind::sparse);
      if (degree <= largest) continue;
      throw std::invalid_argument(
          fmt::format("degree: {:g} of node {} (must be at most {:g} beside its ridge and the contexts learned in the "
                      "component that the edge makes, whose engine is sparse)",
                      degree, node, largest));
    }
  }
}

/// Throws std::invalid_argument if contexts may have been learned in one of these components that the engine sparse
/// does not admit beside the smallest ridge of all of them, and that may leave a window. What is learned stays exact,
/// but to forget it takes a solve for the context, which would have too few digits.
void Belief::check_lengths_in_sparse(std::span<const NodeId> parts, double smallest) const {
  if (!evidence_.takes_away()) return;
  for (const NodeId part : parts) smallest = std::min(smallest, components_[part].engine->prior().smallest_ridge());
  for (const NodeId part : parts) {
    const PriorMatrix& prior = components_[part].engine->prior();
    if (prior.smallest_ridge() == smallest) continue;
    double longest = 0.0;
    for (const NodeId node : components_[part].nodes) {
      const UserEvidence seen = evidence_.at(node);
      if (seen.count == 0) continue;
      double squares = 0.0;  // of all contexts in the window
      for (std::size_t k = 0, at = 0; k < dimension(); at += dimension() - k, ++k) squares += seen.contexts[at];
      longest = std::max(longest, std::min(std::sqrt(squares), longest_learned_ * std::sqrt(ridge(node))));
    }
    longest = std::min(longest, Limits::length * std::sqrt(prior.smallest_ridge()));
    if (longest <= Limits::length * std::sqrt(smallest)) continue;
    throw std::invalid_argument(fmt::format(
        "edge: joins contexts of length {:g}, as may have been learned, to a ridge of {:g} (must be at most "
        "{:g} long beside it, with the engine sparse)",
        longest, smallest, Limits::length * std::sqrt(smallest)));
  }
}

void Belief::check_joins_fit(std::span<const Edge> edges, double ridge_of_new) const {
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
  for (const Edge& edge : edges) {
    const std::size_t first = whole_of(part_of(edge.a));
    const std::size_t second = whole_of(part_of(edge.b));
    joined_to[std::max(first, second)] = std::min(first, second);
  }
  std::map<std::size_t, Whole> wholes;
  for (const auto& [part, to] : joined_to) {
    Whole& whole = wholes[whole_of(part)];
    if (part < components_.size()) {
      whole.add(static_cast<NodeId>(part), *components_[part].engine);
    } else {
      ++whole.nodes;
      ++whole.new_nodes;
    }
  }
  for (auto& [part, whole] : wholes) {
    if (whole.part_count() == 1) continue;  // nothing is joined
    whole.edges += edges.size();
    const EngineKind kind = whole.kind(options_.kind, ridge_of_new, dimension());
    check_join_fits(options_, whole, kind, dimension());
    if (kind != EngineKind::sparse) continue;
    check_degrees_in_sparse(whole.components, edges);
    check_lengths_in_sparse(whole.components,
                            whole.new_nodes > 0 ? ridge_of_new : std::numeric_limits<double>::infinity());
  }
}

void Belief::check_edges_fit(std::span<const Edge> edges) const {
  std::map<NodeId, std::size_t> by_component;
  for (const Edge& edge : edges) ++by_component[places_[edge.a].component];
  const auto bytes = [&](std::size_t most) {
    double total = 0.0;
    for (const auto& [part, count] : by_component) {
      const Engine& engine = *components_[part].engine;
      const Engine::Bytes bytes_there = engine.edges_bytes(std::min(count, most), thread_count());
      total += bytes_there.kept + bytes_there.meanwhile;
      if (changes_edges_in_a_copy(engine)) total += static_cast<double>(engine.bytes());
    }
    return total;
  };
  check_memory(
      fmt::format("changing {} edges at once", edges.size()), bytes(edges.size()), options_,
      [this] { return this->bytes(); },
      [&](std::size_t available) {
        const std::size_t fit = most_that_fit(edges.size(), available, bytes);
        return fit > 0 ? fmt::format("what would fit: {} at once", fit) : std::string("nothing fits");
      });
}

SolveSummary Belief::set_edges(std::span<const Edge> edges) {
  check_edges_fit(edges);
  return change_edges_or_go_back(edges, never_back(options_.progress));
}

SolveSummary Belief::join_new_node(const Edge& edge) { return change_edges_or_go_back(std::span(&edge, 1), {}); }

SolveSummary Belief::change_edges_or_go_back(std::span<const Edge> edges, const std::function<void(double)>& progress) {
  std::vector<Edge> before;
  before.reserve(edges.size());
  for (const Edge& edge : edges) before.push_back({edge.a, edge.b, edge_weight(edge.a, edge.b)});
  try {
    const Engine::Changed changed = change_edges(edges, progress);
    return account_for(0, changed);  // whichever it is: shares are not kept here
  } catch (...) {
    // The same way back. What is changed in place may have been stopped in the middle of it.
    (void)change_edges(before, {});
    std::set<NodeId> parts;
    for (const Edge& edge : edges) parts.insert({places_[edge.a].component, places_[edge.b].component});
    for (const NodeId part : parts) {
      if (!changes_edges_in_a_copy(*components_[part].engine)) (void)rebuild(components_[part], {});
    }
    throw;
  }
}

void Belief::take_edges_back(std::span<const Edge> before) {
  account_for(0, change_edges(before, {}));  // whichever it is: shares are not kept here
}

/// Where others read, unless it takes less time than a copy; and dense, for which a copy takes no time, so that it is
/// all or nothing.
bool Belief::changes_edges_in_a_copy(const Engine& engine) const {
  return engine.kind() == EngineKind::dense || (access_ != nullptr && engine.kind() != EngineKind::local);
}

Engine::Changed Belief::change_edges(std::span<const Edge> edges, const std::function<void(double)>& progress) {
  structure_ = std::make_shared<const char>();
  for (const Edge& edge : edges) {
    if (edge.weight > 0.0 && places_[edge.a].component != places_[edge.b].component) join(edge.a, edge.b);
  }
  std::map<NodeId, std::vector<Edge>> by_component;
  for (const Edge& edge : edges) {
    if (edge.weight == edge_weight(edge.a, edge.b)) continue;
    const Place a = places_[edge.a];
    by_component[a.component].push_back({a.index, places_[edge.b].index, edge.weight});
  }
  Engine::Changed total;
  double share = 0.0;
  for (const auto& [part, changes] : by_component) {
    Component& component = components_[part];
    const double begin = share;
    share += static_cast<double>(changes.size()) / static_cast<double>(edges.size());
    const Work all{
        .threads = thread_count(),
        .spare_bytes =
            [this] { return 0.5 * static_cast<double>(available_bytes(options_, [this] { return bytes(); })); },
        .progress = progress};
    const Work work = all.part(begin, share);
    const auto change = [&, &edges_there = changes](Engine& engine) {
      total.add(engine.set_edges(edges_there, evidence_of(component), work));
    };
    if (changes_edges_in_a_copy(*component.engine)) {
      auto copy = component.engine->clone();
      change(*copy);
      exchange(component, copy);
    } else {
      exclusively([&] { change(*component.engine); });
    }
  }
  std::vector<std::pair<NodeId, NodeId>> removed;
  for (const Edge& edge : edges) {
    if (edge.weight == 0.0 && places_[edge.a].component == places_[edge.b].component) {
      removed.emplace_back(edge.a, edge.b);
    }
  }
  split_between(std::move(removed));
  return total;
}

/// Makes components of the parts that edges between these pairs held together, where no path does any more. Before each
/// step every component is held together by its edges and the pairs that are left.
void Belief::split_between(std::vector<std::pair<NodeId, NodeId>> pairs) {
  while (!pairs.empty()) {
    const auto [a, b] = pairs.back();
    if (a == b || !split(a, b)) {
      pairs.pop_back();
      continue;
    }
    // Pairs that led into the part that went held together what they led from.
    const std::size_t gone = components_.size() - 1;
    std::vector<std::pair<NodeId, NodeId>> left;
    std::optional<NodeId> before;
    for (const auto& [first, second] : pairs) {
      if (places_[first].component == places_[second].component) {
        left.emplace_back(first, second);
        continue;
      }
      const NodeId end = places_[first].component == gone ? second : first;
      if (before) left.emplace_back(*before, end);
      before = end;
    }
    pairs = std::move(left);
  }
}

void Belief::add_node(double ridge) {
  structure_ = std::make_shared<const char>();
  const std::size_t nodes = node_count();
  Component alone{{static_cast<NodeId>(nodes)},
                  engine_factory().make(options_.kind, PriorMatrix(Graph(1), ridge, coupling_), dimension(), options_)};
  alone.engine->set_access(access_);
  make_room_for_a_component();
  try {
    evidence_.add_place();
    lenses_.add_node();
    places_.emplace_back();
  } catch (...) {
    evidence_.keep_first(nodes);
    lenses_.keep_first(nodes);
    throw;
  }
  add_component(std::move(alone));
}

void Belief::keep_first(std::size_t users, std::size_t nodes) {
  if (user_evidence_) user_evidence_->keep_first(users);
  for (; node_count() > nodes && is_alone(static_cast<NodeId>(node_count() - 1)); places_.pop_back()) {
    remove_component(places_.back().component);
  }
  evidence_.keep_first(node_count());
  lenses_.keep_first(node_count());
}

SolveSummary Belief::move_evidence(NodeId from, std::span<const UsersMove> moves, std::span<const NodeId> stay) {
  Evidence moved(dimension(), moves.size() + 1);  // with each move, and with all of them
  const std::size_t all = moves.size();
  for (std::size_t k = 0; k < moves.size(); ++k) {
    for (const NodeId user : moves[k].users) moved.add(k, user_evidence_->at(user));
    moved.add(all, moved.at(k));
  }
  if (moved.at(all).count == 0) return {};
  const double log_determinant = log_determinant_;
  const double log_determinant_error = log_determinant_error_;
  const std::size_t unconverged_solves = unconverged_solves_;
  std::vector<std::pair<NodeId, Evidence::Before>> before;
  before.reserve(moves.size() + 1);
  const auto change = [&](NodeId node, std::size_t which, int sign) {
    const Place place = places_[node];
    const Component& component = components_[place.component];
    return account_for(place.component,
                       component.engine->change_evidence(place.index, moved.at(which), sign, evidence_of(component)));
  };
  try {
    SolveSummary summary;
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (moved.at(k).count == 0) continue;
      before.emplace_back(moves[k].to, evidence_.before(moves[k].to));
      for (const NodeId user : moves[k].users) evidence_.add(moves[k].to, *user_evidence_, user);
      summary.add(change(moves[k].to, k, 1));
    }
    // Summed anew, so that no rounding of a difference stays behind.
    before.emplace_back(from, evidence_.before(from));
    evidence_.clear(from);
    for (const NodeId user : stay) evidence_.add(from, *user_evidence_, user);
    summary.add(change(from, all, -1));
    return summary;
  } catch (...) {
    for (auto& [node, sums] : before) evidence_.put_back(sums);
    log_determinant_ = log_determinant;
    log_determinant_error_ = log_determinant_error;
    unconverged_solves_ = unconverged_solves;
    for (const auto& [node, sums] : before) (void)rebuild(components_[places_[node].component], {}, true);
    throw;
  }
}

std::size_t Belief::bytes() const {
  std::size_t total = sizeof(*this) + evidence_.bytes() + lenses_.bytes() + places_.capacity() * sizeof(Place) +
                      components_.capacity() * sizeof(Component) + bytes_beside_;
  if (user_evidence_) total += user_evidence_->bytes();
  for (const Component& component : components_) {
    total += component.nodes.capacity() * sizeof(NodeId) + component.engine->bytes();
  }
  return total;
}

void Belief::check_copy_fits() const {
  check_memory(
      "working on a copy of the bandit", static_cast<double>(bytes()), options_, [this] { return bytes(); },
      [](std::size_t /*available*/) { return std::string("nothing less fits"); });
}

/// Notes where the nodes of a component are.
void Belief::place_nodes_of(std::size_t component) {
  const auto& nodes = components_[component].nodes;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    places_[nodes[index]] = {static_cast<NodeId>(component), static_cast<NodeId>(index)};
  }
}

/// So that add_component takes no memory, if the engine has been told of access_.
void Belief::make_room_for_a_component() {
  if (components_.size() == components_.capacity()) components_.reserve(2 * components_.size() + 1);
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
      try {
        whole.engine->absorb(*other.engine, {evidence_, whole.nodes});
      } catch (...) {
        whole.nodes.resize(before);
        throw;
      }
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
/// from one of them, which become the last component, and the rest.
bool Belief::split(NodeId a, NodeId b) {
  const std::size_t whole = places_[a].component;
  const Engine& engine = *components_[whole].engine;
  const auto parts = cut_off(engine.graph(), std::array{places_[a].index, places_[b].index});
  if (parts.empty()) return false;
  const std::vector<NodeId>& smaller = parts.front();
  const auto part = [&](const std::vector<NodeId>& indices) {
    Component component{{}, engine.extract(indices, evidence_of(components_[whole]))};
    component.nodes.reserve(indices.size());
    for (const NodeId index : indices) component.nodes.push_back(components_[whole].nodes[index]);
    return component;
  };
  Component smaller_part = part(smaller);
  if (engine.kind() == EngineKind::local) {
    exclusively([&] {
      make_room_for_a_component();  // what takes memory comes first
      Component& rest = components_[whole];
      remove_places(rest.nodes, smaller);
      try {
        rest.engine->release(smaller, evidence_of(smaller_part), evidence_of(rest));
      } catch (...) {
        put_back_places<NodeId>(rest.nodes, smaller, smaller_part.nodes);
        throw;
      }
      for (const NodeId index : smaller) {
        if (index < rest.nodes.size()) places_[rest.nodes[index]].index = index;
      }
      add_component(std::move(smaller_part));
    });
    return true;
  }
  std::vector<NodeId> larger;
  larger.reserve(engine.node_count() - smaller.size());
  for (NodeId index = 0, next = 0; index < engine.node_count(); ++index) {
    if (next < smaller.size() && smaller[next] == index) {
      ++next;
    } else {
      larger.push_back(index);
    }
  }
  Component larger_part = part(larger);
  larger_part.engine->set_access(access_);
  exclusively([&] {
    make_room_for_a_component();
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
  if (!lenses_.scale()) return;
  out.array(lenses_.factors());
  for (const Component& component : components_) {
    out.number(component.log_determinant);
    out.number(component.log_determinant_error);
  }
}

Belief::Belief(BinaryReader& in, double coupling, Lenses lenses, const EngineOptions& options, TakenFrom taken_from)
    : options_(options),
      coupling_(coupling),
      lenses_(std::move(lenses)),
      evidence_(Evidence::load(in, taken_from.nodes)),
      places_(evidence_.size()) {
  in.expect(dimension() == lenses_.node_dimension(), "the dimension of the evidence");
  if (in.number<std::uint8_t>() != 0) {
    user_evidence_ = Evidence::load(in, taken_from.users);
    in.expect(user_evidence_->dimension() == lenses_.dimension(), "the dimension of the users' evidence");
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
    add_component({std::move(nodes), engine_factory().load(in, kind, prior, dimension(), options)});
  }
  in.expect(seen_count == node_count(), "a node without a component");
  if (!lenses_.scale()) return;
  auto factors = in.array<double>(node_count(), "the factors of the nodes");
  for (const double factor : factors) in.expect(factor >= 1e-100 && factor <= 1e100, "the factor of a node");
  lenses_ = Lenses::scaling(lenses_.dimension(), std::move(factors));
  for (Component& component : components_) {
    component.log_determinant = in.number<double>();
    component.log_determinant_error = in.number<double>();
    in.expect(std::isfinite(component.log_determinant) && std::isfinite(component.log_determinant_error),
              "what was learned in a component");
  }
}

}  // namespace goblin
