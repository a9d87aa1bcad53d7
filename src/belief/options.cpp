#include "goblin/belief/options.hpp"

#include "belief/engine_factory.hpp"
#include "goblin/belief/solve_summary.hpp"

#include <algorithm>
#include <cmath>
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

/// What learning a reward costs, in seconds on one thread, once every node has as many rewards as d. The constants are
/// those of `./dev bench --benchmark_filter=engine_costs`, which prints measured beside estimated times, on a processor
/// of 2023 (AVX-512, 2 MB of second-level cache). Only their ratios decide.
struct RewardCosts {
  double dense;
  double sparse;
  double local;
};

RewardCosts reward_costs(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto n = static_cast<double>(nodes);
  const auto m = static_cast<double>(edges);
  const auto d = static_cast<double>(dimension);
  constexpr double multiplication = 3.4e-11;  // of a symmetric change of a matrix
  constexpr double iterations = 13.0;         // of a solve
  constexpr double edge = 1.2e-10;            // of an iteration, for each number: both directions,
  constexpr double evidence = 2.4e-10;        // D^{-1}, back and forth,
  constexpr double vectors = 8e-10;           // and seven vectors
  const double padded = 8.0 * std::ceil(d / 8.0);
  return {.dense = multiplication * 0.5 * (n * d) * (n * d),
          .sparse = iterations * padded * (edge * m + (evidence * d + vectors) * n),
          .local = 5e-4};
}

/// Exact engines are preferred up to this cost of a reward.
constexpr double most_seconds_for_exact = 0.01;
/// The matrix that dense keeps: more would not stay in the processor's cache, nor be made in no time.
constexpr double most_dense_bytes = 32e6;

std::string readable(double seconds) {
  return seconds < 1e-4 ? fmt::format("{:.2g} us", 1e6 * seconds) : fmt::format("{:.2g} ms", 1e3 * seconds);
}

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

EngineChoice explain_engine(EngineKind wanted, std::size_t nodes, std::size_t edges, std::size_t dimension) {
  if (wanted != EngineKind::automatic) return {wanted, "forced by option"};
  if (nodes == 1) return {EngineKind::dense, "one node: all of its inverse is kept"};
  const RewardCosts costs = reward_costs(nodes, edges, dimension);
  const double rows = static_cast<double>(nodes) * static_cast<double>(dimension);
  if (8.0 * rows * rows <= most_dense_bytes && costs.dense <= costs.sparse) {
    return {EngineKind::dense, fmt::format("small: a reward takes about {}, with sparse about {}",
                                           readable(costs.dense), readable(costs.sparse))};
  }
  if (costs.sparse <= most_seconds_for_exact) {
    return {EngineKind::sparse, fmt::format("large: a reward takes about {} and is exact, with local about {}",
                                            readable(costs.sparse), readable(costs.local))};
  }
  return {EngineKind::local, fmt::format("too large to be exact: a reward takes about {}, with sparse about {}",
                                         readable(costs.local), readable(costs.sparse))};
}

EngineKind choose_engine(EngineKind wanted, std::size_t nodes, std::size_t edges, std::size_t dimension) {
  return explain_engine(wanted, nodes, edges, dimension).kind;
}

void SolveSummary::add(const SolveSummary& other) {
  iterations += other.iterations;
  settled_nodes += other.settled_nodes;
  walked_edges += other.walked_edges;
  residual = std::max(residual, other.residual);
  converged = converged && other.converged;
}

}  // namespace goblin
