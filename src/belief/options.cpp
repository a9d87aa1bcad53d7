#include "goblin/belief/options.hpp"

#include "belief/engine_factory.hpp"
#include "goblin/belief/solve_summary.hpp"

#include <algorithm>
#include <iterator>
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

EngineKind choose_engine(EngineKind wanted, std::size_t nodes, std::size_t dimension) {
  if (wanted != EngineKind::automatic) return wanted;
  if (nodes == 1 || nodes <= most_dense_rows / dimension) return EngineKind::dense;
  return nodes <= most_sparse_nodes ? EngineKind::sparse : EngineKind::local;
}

void SolveSummary::add(const SolveSummary& other) {
  iterations += other.iterations;
  settled_nodes += other.settled_nodes;
  walked_edges += other.walked_edges;
  residual = std::max(residual, other.residual);
  converged = converged && other.converged;
}

}  // namespace goblin
