#include "goblin/belief/engine.hpp"

#include "belief/engine_factory.hpp"
#include "binary.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr std::pair<EngineKind, std::string_view> kinds[] = {{EngineKind::automatic, "automatic"},
                                                             {EngineKind::dense, "dense"},
                                                             {EngineKind::sparse, "sparse"},
                                                             {EngineKind::local, "local"}};

/// Up to this many rows of N, all of N^{-1} is kept.
constexpr std::size_t most_dense_rows = 2000;
/// Up to this many nodes, the belief is exact. Beyond, the variances before the first reward alone take minutes.
constexpr std::size_t most_sparse_nodes = 20'000;

}  // namespace

std::string_view name_of(EngineKind kind) {
  return std::find_if(std::begin(kinds), std::end(kinds), [kind](const auto& entry) { return entry.first == kind; })
      ->second;
}

EngineKind engine_kind(std::string_view name) {
  for (const auto& entry : kinds) {
    if (entry.second == name) return entry.first;
  }
  throw std::invalid_argument(fmt::format("engine: '{}' (must be automatic, dense, sparse or local)", name));
}

void SolveSummary::add(const SolveSummary& other) {
  iterations += other.iterations;
  edges += other.edges;
  residual = std::max(residual, other.residual);
  converged = converged && other.converged;
}

std::vector<NodeId> Engine::reachable(std::size_t node) const {
  const Components components = graph().components();
  const auto nodes = components.nodes(components.of(static_cast<NodeId>(node)));
  return {nodes.begin(), nodes.end()};
}

void Engine::evaluate_with_errors(std::size_t node, std::span<const double> contexts, std::span<double> means,
                                  std::span<double> variances, std::span<double> mean_errors,
                                  std::span<double> variance_errors) const {
  evaluate(node, contexts, means, variances);
  std::fill(mean_errors.begin(), mean_errors.end(), 0.0);
  std::fill(variance_errors.begin(), variance_errors.end(), 0.0);
}

EngineKind choose_engine(EngineKind wanted, std::size_t nodes, std::size_t dimension) {
  if (wanted != EngineKind::automatic) return wanted;
  if (nodes == 1 || nodes <= most_dense_rows / dimension) return EngineKind::dense;
  return nodes <= most_sparse_nodes ? EngineKind::sparse : EngineKind::local;
}

std::size_t engine_bytes(EngineKind kind, std::size_t nodes, std::size_t edges, std::size_t dimension) {
  return engine_factory().bytes(choose_engine(kind, nodes, dimension), nodes, edges, dimension);
}

std::unique_ptr<Engine> make_engine(EngineKind kind, const Graph& component, std::size_t dimension, const Prior& prior,
                                    const EngineOptions& options) {
  const EngineKind chosen = choose_engine(kind, component.node_count(), dimension);
  return engine_factory().make(chosen, component, dimension, prior, options);
}

std::unique_ptr<Engine> join_engines(EngineKind kind, const Engine& first, const Engine& second,
                                     std::span<const Engine::NodeEvidence> evidence, std::size_t dimension,
                                     const Prior& prior, const EngineOptions& options) {
  const EngineKind chosen = choose_engine(kind, first.node_count() + second.node_count(), dimension);
  return engine_factory().join(chosen, first, second, evidence, dimension, prior, options);
}

void save_engine(BinaryWriter& out, const Engine& engine) {
  out.number(static_cast<std::uint8_t>(engine.kind()));
  engine.save(out);
}

std::unique_ptr<Engine> load_engine(BinaryReader& in, std::size_t dimension, const Prior& prior,
                                    const EngineOptions& options) {
  return engine_factory().load(in, dimension, prior, options);
}

}  // namespace goblin
