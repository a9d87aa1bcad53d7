#include "goblin/belief/options.hpp"

#include "goblin/belief/solve_summary.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr std::pair<EngineKind, std::string_view> kinds[] = {{EngineKind::automatic, "automatic"},
                                                             {EngineKind::dense, "dense"},
                                                             {EngineKind::sparse, "sparse"},
                                                             {EngineKind::local, "local"}};

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
  settled_nodes += other.settled_nodes;
  walked_edges += other.walked_edges;
  residual = std::max(residual, other.residual);
  converged = converged && other.converged;
}

}  // namespace goblin
