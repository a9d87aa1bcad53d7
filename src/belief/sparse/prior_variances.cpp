#include "belief/sparse/prior_variances.hpp"

#include "belief/sparse/precision_solver.hpp"

#include <algorithm>

namespace goblin {
namespace {

/// Solves A x = b for several right-hand sides at once: without evidence N is A (x) I_d, one system for each of the d
/// columns.
class PriorSolver {
 public:
  PriorSolver(const PriorMatrix& prior, std::size_t columns)
      : solver_(prior, columns), stride_(solver_.solution().size() / prior.node_count()) {}

  void clear() { solver_.clear(); }
  void set(std::size_t node, std::size_t column, double value) { solver_.right_hand_side(node)[column] = value; }

  /// What is left of the residual enters the energies below squared.
  void solve() { solver_.solve(1e-12, 10 * solver_.solution().size() + 100); }

  /// b^T A^{-1} b = b.x + x.r + r^T A^{-1} r of each column, r = b - A x; the last term is too small to matter.
  [[nodiscard]] std::vector<double> energies() const {
    std::vector<double> result(stride_, 0.0);
    for (std::size_t k = 0; k < solver_.solution().size(); ++k) {
      result[k % stride_] += solver_.solution()[k] * (solver_.right_hand_sides()[k] + solver_.residual()[k]);
    }
    return result;
  }

 private:
  PrecisionSolver solver_;
  std::size_t stride_;
};

}  // namespace

std::vector<double> prior_variances(const PriorMatrix& prior) {
  constexpr std::size_t most_columns = 32;
  const std::size_t n = prior.node_count();
  const std::size_t columns = std::min(n, most_columns);
  PriorSolver solver(prior, columns);
  std::vector<double> variances;
  variances.reserve(n);
  for (std::size_t first = 0; first < n; first += columns) {
    const std::size_t used = std::min(columns, n - first);
    solver.clear();
    for (std::size_t column = 0; column < used; ++column) solver.set(first + column, column, 1.0);
    solver.solve();
    const auto energies = solver.energies();
    variances.insert(variances.end(), energies.begin(), energies.begin() + static_cast<std::ptrdiff_t>(used));
  }
  return variances;
}

double prior_resistance(const PriorMatrix& prior, NodeId a, NodeId b) {
  PriorSolver solver(prior, 1);
  solver.clear();
  solver.set(a, 0, 1.0);
  solver.set(b, 0, -1.0);
  solver.solve();
  return solver.energies().front();
}

}  // namespace goblin
