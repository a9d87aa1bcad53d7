#include "goblin/world/linear.hpp"

#include "goblin/random.hpp"
#include "world/unit_vector.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <fmt/format.h>

namespace goblin::world {
namespace {

void check(const Graph& graph, const LinearOptions& options) {
  if (graph.node_count() == 0) throw std::invalid_argument("graph: no nodes (must have at least 1)");
  if (options.dimension == 0) throw std::invalid_argument("dimension: 0 (must be at least 1)");
  if (options.arms == 0) throw std::invalid_argument("arms: 0 (must be at least 1)");
  if (!(options.payoff_noise >= 0.0 && std::isfinite(options.payoff_noise))) {
    throw std::invalid_argument(
        fmt::format("payoff_noise: {} (must be finite and not negative)", options.payoff_noise));
  }
  if (!(options.smoothing >= 0.0 && std::isfinite(options.smoothing))) {
    throw std::invalid_argument(fmt::format("smoothing: {} (must be finite and not negative)", options.smoothing));
  }
}

std::vector<double> smooth_vectors(const Graph& graph, const LinearOptions& options) {
  check(graph, options);
  const auto n = static_cast<Eigen::Index>(graph.node_count());
  const auto d = static_cast<Eigen::Index>(options.dimension);
  Eigen::SparseMatrix<double> matrix(n, n);
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 1.0 + options.smoothing * graph.degree(static_cast<std::size_t>(i)));
  }
  for (const Edge& edge : graph.edges()) {
    entries.emplace_back(edge.a, edge.b, -options.smoothing * edge.weight);
    entries.emplace_back(edge.b, edge.a, -options.smoothing * edge.weight);
  }
  matrix.setFromTriplets(entries.begin(), entries.end());

  Random random(options.seed, options.repetition, vector_stream);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> vectors(n, d);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < d; ++k) vectors(i, k) = random.normal();
  }
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver(matrix);
  solver.setTolerance(1e-8);
  for (Eigen::Index k = 0; k < d; ++k) vectors.col(k) = solver.solve(vectors.col(k).eval());
  vectors.rowwise().normalize();
  return {vectors.data(), vectors.data() + vectors.size()};
}

}  // namespace

Linear::Linear(const Graph& graph, const LinearOptions& options)
    : Linear(graph, smooth_vectors(graph, options), options) {}

Linear::Linear(Graph graph, std::vector<double> user_vectors, const LinearOptions& options, std::string name)
    : graph_(std::move(graph)), user_vectors_(std::move(user_vectors)), options_(options), name_(std::move(name)) {
  check(graph_, options);
  if (user_vectors_.size() != graph_.node_count() * options.dimension) {
    throw std::invalid_argument(fmt::format("user_vectors: {} numbers (must be {} for each of the {} users)",
                                            user_vectors_.size(), options.dimension, graph_.node_count()));
  }
}

std::optional<LinearTruth> Linear::truth() const {
  return LinearTruth{.user_vectors = user_vectors_, .noise = options_.payoff_noise, .context_length = 1.0};
}

void Linear::round(std::uint64_t t, Round& round) const {
  const std::size_t d = options_.dimension;
  Random random(options_.seed, options_.repetition, t);
  round.user = static_cast<NodeId>(random.below(graph_.node_count()));
  const auto vector = vectors_at(t).subspan(round.user * d, d);
  round.items.clear();
  round.contexts.resize(options_.arms * d);
  round.payoffs.resize(options_.arms);
  round.expected.resize(options_.arms);
  for (std::size_t arm = 0; arm < options_.arms; ++arm) {
    const auto context = std::span(round.contexts).subspan(arm * d, d);
    draw_unit_vector(random, context);
    round.expected[arm] = std::inner_product(context.begin(), context.end(), vector.begin(), 0.0);
    round.payoffs[arm] = round.expected[arm] + random.uniform(-options_.payoff_noise, options_.payoff_noise);
  }
}

}  // namespace goblin::world
