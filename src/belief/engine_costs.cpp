#include "belief/engine_costs.hpp"

#include "belief/prior_matrix.hpp"

#include <cmath>

#include <fmt/format.h>

namespace goblin {
namespace {

/// Exact engines are preferred up to this cost of a round.
constexpr double most_seconds_for_exact = 0.01;
/// The same where local would not keep its tolerance. Not more, because edges and memory are dear there, too.
constexpr double most_seconds_where_local_is_poor = 0.025;
/// Beyond it, nearly every reward reaches LocalOptions::most_edges (docs/engines.md has what was measured).
constexpr double most_pull_for_local = 50.0;
/// The matrix that dense keeps.
constexpr double most_dense_bytes = 32e6;

constexpr double candidates = 25.0;

/// In seconds.
constexpr double call = 4e-7;                      // of a decision or a reward, whatever it is about
constexpr double product = 1.5e-10;                // of x^T C x, for each number of C
constexpr double matrix_multiplication = 3.4e-11;  // in a symmetric change of a matrix
constexpr double inversion = 1.5e-10;              // for each of n^3 of A
constexpr double iterations = 13.0;                // of a solve;
constexpr double edge = 1.2e-10;                   // of an iteration, for each number: both directions,
constexpr double evidence = 2.4e-10;               // D^{-1}, back and forth,
constexpr double vectors = 8e-10;                  // and the vectors
constexpr double columns = 32.0;                   // of A^{-1} in a solve
constexpr double local_learn = 5e-4;
constexpr double local_decide = 5e-5;
constexpr double local_node = 3e-7;  // that is made, and an edge
constexpr double local_edge = 5e-8;

std::string readable(double seconds) {
  return seconds < 1e-4 ? fmt::format("{:.2g} us", 1e6 * seconds) : fmt::format("{:.2g} ms", 1e3 * seconds);
}

}  // namespace

EngineCosts engine_costs(EngineKind kind, std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto n = static_cast<double>(nodes);
  const auto m = static_cast<double>(edges);
  const auto d = static_cast<double>(dimension);
  const double rows = n * d;
  const double exact_decision = call + candidates * product * d * d;
  const auto solve = [&](double width, double of_evidence) {
    const double padded = 8.0 * std::ceil(width / 8.0);
    return iterations * padded * (edge * m + (of_evidence + vectors) * n);
  };
  switch (kind) {
    case EngineKind::dense:
      return {.make = inversion * n * n * n + matrix_multiplication * rows * rows,
              .learn = call + matrix_multiplication * 0.5 * rows * rows,
              .decide = exact_decision,
              .bytes = 8.0 * rows * rows};
    case EngineKind::local:
      return {.make = local_node * n + local_edge * m,
              .learn = local_learn,
              .decide = local_decide,
              .bytes = 16.0 * rows + 24.0 * m};
    default:
      return {.make = n / columns * solve(columns, 0.0),
              .learn = call + solve(d, evidence * d),
              .decide = exact_decision,
              .bytes = n * (16.0 * d * d + 200.0 * d) + 60.0 * m};
  }
}

void Pull::add(const PriorMatrix& prior) {
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    add(prior.coupling() * prior.graph().degree(node), prior.ridge(node));
  }
}

ComponentShape shape_of(const PriorMatrix& prior) {
  return {.nodes = prior.node_count(), .edges = prior.graph().edge_count(), .pull = [&prior] {
            Pull pull;
            pull.add(prior);
            return pull.value();
          }};
}

EngineChoice explain_engine(EngineKind wanted, const ComponentShape& shape, std::size_t dimension) {
  const auto& [nodes, edges, pull] = shape;
  if (wanted != EngineKind::automatic) return {wanted, "forced by option"};
  if (nodes == 1) return {EngineKind::dense, "one node: all of its inverse is kept"};
  const EngineCosts dense = engine_costs(EngineKind::dense, nodes, edges, dimension);
  const EngineCosts sparse = engine_costs(EngineKind::sparse, nodes, edges, dimension);
  const EngineCosts local = engine_costs(EngineKind::local, nodes, edges, dimension);
  const auto described = [](const EngineCosts& costs) {
    return fmt::format("{} to make, {} a reward, {} a decision, {:.2g} MB", readable(costs.make), readable(costs.learn),
                       readable(costs.decide), 1e-6 * costs.bytes);
  };
  const auto reason = [&](const char* why, const EngineCosts& chosen, EngineKind other, const EngineCosts& costs) {
    return fmt::format("{}: about {}; {}: {}", why, described(chosen), name_of(other), described(costs));
  };
  if (dense.bytes <= most_dense_bytes && dense.round(nodes) <= sparse.round(nodes)) {
    return {EngineKind::dense, reason("small", dense, EngineKind::sparse, sparse)};
  }
  if (sparse.round(nodes) <= most_seconds_for_exact) {
    return {EngineKind::sparse, reason("large, but a round takes less than 10 ms", sparse, EngineKind::local, local)};
  }
  if (sparse.round(nodes) <= most_seconds_where_local_is_poor && pull() > most_pull_for_local) {
    return {EngineKind::sparse,
            reason("the ridge is so small beside the friends that local would not keep its tolerance", sparse,
                   EngineKind::local, local)};
  }
  return {EngineKind::local, reason("too large for a round in 10 ms to be exact", local, EngineKind::sparse, sparse)};
}

EngineKind choose_engine(EngineKind wanted, const ComponentShape& shape, std::size_t dimension) {
  return explain_engine(wanted, shape, dimension).kind;
}

}  // namespace goblin
