#include "belief/prior_solver.hpp"

#include "belief/graph_edit.hpp"
#include "belief/packs.hpp"

#include <algorithm>
#include <cmath>

namespace goblin {
namespace {

/// Solves A x = b for eight right-hand sides at once, each with its own conjugate gradients, preconditioned by the
/// diagonal.
class PriorSolver {
 public:
  PriorSolver(const Graph& graph, const Prior& prior)
      : graph_(graph),
        coupling_(prior.coupling),
        diagonal_(prior_diagonal(graph, prior.ridge, prior.coupling)),
        solution_(graph.node_count()),
        residual_(graph.node_count()),
        direction_(graph.node_count()),
        image_(graph.node_count()) {}

  void clear() {
    std::fill(solution_.begin(), solution_.end(), Row{});
    std::fill(residual_.begin(), residual_.end(), Row{});
  }
  void set_right_hand_side(std::size_t node, std::size_t lane, double value) { residual_[node].values[lane] = value; }
  [[nodiscard]] double solution(std::size_t node, std::size_t lane) const { return solution_[node].values[lane]; }

  void solve() {
    constexpr double tolerance = 1e-14;
    const std::size_t n = graph_.node_count();
    Lanes start{};
    Lanes rz{};
    for (std::size_t j = 0; j < n; ++j) {
      const Lanes r = residual_[j].values;
      direction_[j].values = r / diagonal_[j];
      rz += r * direction_[j].values;
      start += r * r;
    }
    const std::size_t most_iterations = 10 * n + 100;
    for (std::size_t iteration = 0; iteration < most_iterations; ++iteration) {
      Lanes curvature{};
      for (std::size_t j = 0; j < n; ++j) {
        const auto neighbours = graph_.neighbours(j);
        const auto weights = graph_.weights(j);
        Lanes others{};
        for (std::size_t k = 0; k < neighbours.size(); ++k) others += weights[k] * direction_[neighbours[k]].values;
        const Lanes image = diagonal_[j] * direction_[j].values - coupling_ * others;
        image_[j].values = image;
        curvature += direction_[j].values * image;
      }
      const Lanes step = ratio(rz, curvature);
      Lanes next_rz{};
      Lanes norm{};
      for (std::size_t j = 0; j < n; ++j) {
        solution_[j].values += step * direction_[j].values;
        const Lanes r = residual_[j].values - step * image_[j].values;
        residual_[j].values = r;
        next_rz += r * r / diagonal_[j];
        norm += r * r;
      }
      bool done = true;
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        done = done && norm[lane] <= tolerance * tolerance * start[lane];
      }
      if (done) return;
      const Lanes turn = ratio(next_rz, rz);
      rz = next_rz;
      for (std::size_t j = 0; j < n; ++j) {
        direction_[j].values = residual_[j].values / diagonal_[j] + turn * direction_[j].values;
      }
    }
  }

 private:
  struct Row {
    Lanes values;
  };

  static Lanes ratio(const Lanes& numerator, const Lanes& denominator) {
    Lanes result{};
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (denominator[lane] > 0.0) result[lane] = numerator[lane] / denominator[lane];
    }
    return result;
  }

  const Graph& graph_;
  double coupling_;
  std::vector<double> diagonal_;
  std::vector<Row> solution_;
  std::vector<Row> residual_;
  std::vector<Row> direction_;
  std::vector<Row> image_;
};

}  // namespace

std::vector<double> prior_variances(const Graph& graph, const Prior& prior) {
  const std::size_t n = graph.node_count();
  std::vector<double> variances(n);
  PriorSolver solver(graph, prior);
  for (std::size_t first = 0; first < n; first += lane_count) {
    const std::size_t used = std::min(lane_count, n - first);
    solver.clear();
    for (std::size_t lane = 0; lane < used; ++lane) solver.set_right_hand_side(first + lane, lane, 1.0);
    solver.solve();
    for (std::size_t lane = 0; lane < used; ++lane) variances[first + lane] = solver.solution(first + lane, lane);
  }
  return variances;
}

double prior_resistance(const Graph& graph, const Prior& prior, std::size_t a, std::size_t b) {
  PriorSolver solver(graph, prior);
  solver.clear();
  solver.set_right_hand_side(a, 0, 1.0);
  solver.set_right_hand_side(b, 0, -1.0);
  solver.solve();
  return solver.solution(a, 0) - solver.solution(b, 0);
}

}  // namespace goblin
