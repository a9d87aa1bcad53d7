#include "cluster/metis.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <metis.h>

namespace goblin::cluster {
namespace {

constexpr double largest_sum = 0x1.0p29;

/// What METIS takes for a graph.
struct Input {
  std::vector<idx_t> begins;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> edge_weights;
  std::vector<idx_t> node_weights;
};

idx_t scaled(double weight, double scale) {
  return std::max(idx_t{1}, static_cast<idx_t>(std::lround(weight * scale)));
}

double scale_of(double sum) { return sum > 0.0 ? largest_sum / sum : 0.0; }

Input input_of(const Graph& graph, std::span<const double> node_weights) {
  const std::size_t nodes = graph.node_count();
  Input input;
  input.begins.reserve(nodes + 1);
  input.begins.push_back(0);
  input.neighbours.reserve(2 * graph.edge_count());
  input.edge_weights.reserve(2 * graph.edge_count());
  input.node_weights.reserve(nodes);
  double edge_sum = 0.0;
  for (NodeId node = 0; node < nodes; ++node) edge_sum += graph.degree(node);
  const double edge_scale = scale_of(edge_sum);
  const double node_scale = scale_of(std::accumulate(node_weights.begin(), node_weights.end(), 0.0));
  for (NodeId node = 0; node < nodes; ++node) {
    for (const NodeId neighbour : graph.neighbours(node)) input.neighbours.push_back(static_cast<idx_t>(neighbour));
    for (const double weight : graph.weights(node)) input.edge_weights.push_back(scaled(weight, edge_scale));
    input.begins.push_back(static_cast<idx_t>(input.neighbours.size()));
    input.node_weights.push_back(scaled(node_weights[node], node_scale));
  }
  return input;
}

/// For each node its side, 0 or 1; side 0 has about `share` of the node weight.
std::vector<idx_t> bisect(const Graph& graph, std::span<const double> node_weights, double share, Random& random) {
  Input input = input_of(graph, node_weights);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = static_cast<idx_t>(random.below(0x7FFFFFFF));
  std::array<real_t, 2> shares{static_cast<real_t>(share), static_cast<real_t>(1.0 - share)};
  auto nodes = static_cast<idx_t>(graph.node_count());
  idx_t constraints = 1;
  idx_t parts = 2;
  idx_t cut = 0;
  std::vector<idx_t> sides(graph.node_count(), 0);
  int status = METIS_OK;
  {
    // METIS draws from the C library's one generator and sets signal handlers: one call at a time, or the result would
    // depend on what other threads do.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    status = METIS_PartGraphRecursive(&nodes, &constraints, input.begins.data(), input.neighbours.data(),
                                      input.node_weights.data(), nullptr, input.edge_weights.data(), &parts,
                                      shares.data(), nullptr, options.data(), &cut, sides.data());
  }
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) throw std::runtime_error(fmt::format("METIS failed with status {}", status));
  return sides;
}

/// The nodes of a graph without edges, by turns.
std::vector<idx_t> deal(std::size_t nodes, double share) {
  std::vector<idx_t> sides(nodes, 1);
  double owed = 0.0;
  for (idx_t& side : sides) {
    owed += share;
    if (owed < 1.0) continue;
    owed -= 1.0;
    side = 0;
  }
  return sides;
}

/// Moves nodes over, the lightest first, until each side has at least as many as it needs.
void fill_sides(std::vector<idx_t>& sides, std::span<const double> node_weights, std::array<std::size_t, 2> needed) {
  std::array<std::size_t, 2> count{};
  for (const idx_t side : sides) ++count[static_cast<std::size_t>(side)];
  if (count[0] >= needed[0] && count[1] >= needed[1]) return;
  const idx_t poor = count[0] < needed[0] ? 0 : 1;
  const std::size_t missing = needed[static_cast<std::size_t>(poor)] - count[static_cast<std::size_t>(poor)];
  std::vector<std::pair<double, std::size_t>> rich;
  for (std::size_t node = 0; node < sides.size(); ++node) {
    if (sides[node] != poor) rich.emplace_back(node_weights[node], node);
  }
  std::sort(rich.begin(), rich.end());
  for (std::size_t k = 0; k < missing; ++k) sides[rich[k].second] = poor;
}

class Bisection {
 public:
  Bisection(std::vector<NodeId>& labels, Random& random) : labels_(labels), random_(random) {}

  /// Gives the labels first, first + 1, ... to the nodes of a graph, whose numbers in the whole graph are `nodes`.
  void run(const Graph& graph, std::span<const NodeId> nodes, std::span<const double> weights, std::size_t clusters,
           std::size_t first) {
    if (clusters == 1 || clusters == nodes.size()) {
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        labels_[nodes[k]] = static_cast<NodeId>(clusters == 1 ? first : first + k);
      }
      return;
    }
    const std::array<std::size_t, 2> parts{clusters / 2, clusters - clusters / 2};
    const double share = static_cast<double>(parts[0]) / static_cast<double>(clusters);
    std::vector<idx_t> sides =
        graph.edge_count() > 0 ? bisect(graph, weights, share, random_) : deal(nodes.size(), share);
    fill_sides(sides, weights, parts);
    for (const idx_t side : {0, 1}) {
      std::vector<NodeId> inside;
      std::vector<NodeId> their_nodes;
      std::vector<double> their_weights;
      for (NodeId node = 0; node < sides.size(); ++node) {
        if (sides[node] != side) continue;
        inside.push_back(node);
        their_nodes.push_back(nodes[node]);
        their_weights.push_back(weights[node]);
      }
      const auto part = static_cast<std::size_t>(side);
      const Graph half = parts[part] > 1 ? graph.induced(inside) : Graph();
      run(half, their_nodes, their_weights, parts[part], side == 0 ? first : first + parts[0]);
    }
  }

 private:
  std::vector<NodeId>& labels_;
  Random& random_;
};

}  // namespace

std::vector<NodeId> bisect_recursively(const Graph& graph, std::span<const double> node_weights, std::size_t clusters,
                                       Random& random) {
  const std::size_t nodes = graph.node_count();
  if (static_cast<double>(std::max(nodes, 2 * graph.edge_count())) > largest_sum) {
    throw std::invalid_argument(fmt::format("graph: {} nodes and {} edges (METIS takes up to {} nodes or edge ends)",
                                            nodes, graph.edge_count(), static_cast<std::size_t>(largest_sum)));
  }
  std::vector<NodeId> labels(nodes);
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), NodeId{0});
  Bisection(labels, random).run(graph, all, node_weights, clusters, 0);
  return labels;
}

}  // namespace goblin::cluster
