#include "belief/sparse/prior_variances.hpp"

#include "belief/precision_change.hpp"
#include "belief/sparse/precision_solver.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace goblin {
namespace {

constexpr std::size_t group_size = 32;

}  // namespace

/// Solves A x = b for several right-hand sides at once: without evidence N is A (x) I_d, one system for each of the d
/// columns.
class PriorSolver {
 public:
  PriorSolver(const PriorMatrix& prior, std::size_t columns)
      : solver_(prior, columns), stride_(solver_.solution().size() / prior.node_count()) {
    // What is left of the residual enters the energies as r^T A^{-1} r <= |r|^2 / ridge, and they are at least 1 / the
    // diagonal: sixteen digits need half as many of the residual.
    double largest = 0.0;
    for (std::size_t node = 0; node < prior.node_count(); ++node) largest = std::max(largest, prior.diagonal(node));
    energy_tolerance_ = 1e-8 * std::sqrt(prior.smallest_ridge() / largest);
  }

  void clear() { solver_.clear(); }
  void set(std::size_t node, std::size_t column, double value) { solver_.right_hand_side(node)[column] = value; }

  void solve(double tolerance) {
    constexpr double tightest = 1e-13;
    solver_.solve(std::max(tightest, tolerance), 10 * solver_.solution().size() + 100);
  }
  /// As exact as the energies have to be.
  void solve() { solve(energy_tolerance_); }

  /// b^T A^{-1} b = b.x + x.r + r^T A^{-1} r of each column, r = b - A x; the last term is too small to matter.
  [[nodiscard]] std::vector<double> energies() const {
    std::vector<double> result(stride_, 0.0);
    for (std::size_t k = 0; k < solver_.solution().size(); ++k) {
      result[k % stride_] += solver_.solution()[k] * (solver_.right_hand_sides()[k] + solver_.residual()[k]);
    }
    return result;
  }
  [[nodiscard]] double solution(std::size_t node, std::size_t column) const {
    return solver_.solution()[node * stride_ + column];
  }
  [[nodiscard]] std::size_t bytes() const { return solver_.bytes(); }

 private:
  PrecisionSolver solver_;
  std::size_t stride_;
  double energy_tolerance_;
};

PriorVariances::PriorVariances(std::size_t nodes) : known_(nodes, 0), unknown_count_(nodes) {}
PriorVariances::PriorVariances(const PriorVariances& other)
    : known_(other.known_), unknown_count_(other.unknown_count_.load()) {}
PriorVariances::~PriorVariances() = default;

void PriorVariances::set_known(std::size_t node) {
  if (std::atomic_ref(known_[node]).exchange(1, std::memory_order_release) == 0) --unknown_count_;
}

void PriorVariances::take(std::size_t node, double variance, const Found& found) const {
  const std::lock_guard lock(mutex_);
  if (is_known(node)) return;
  found(node, variance);
  std::atomic_ref(known_[node]).store(1, std::memory_order_release);
  --unknown_count_;
}

void PriorVariances::find_group(std::size_t group, PriorSolver& solver, const Found& found) const {
  const std::size_t first = group * group_size;
  const std::size_t last = std::min(first + group_size, known_.size());
  solver.clear();
  for (std::size_t node = first; node < last; ++node) solver.set(node, node - first, 1.0);
  solver.solve();
  const auto energies = solver.energies();
  for (std::size_t node = first; node < last; ++node) {
    if (is_known(node)) continue;
    found(node, energies[node - first]);
    std::atomic_ref(known_[node]).store(1, std::memory_order_release);
    --unknown_count_;
  }
}

void PriorVariances::find(std::size_t node, const PriorMatrix& prior, const Found& found) const {
  const std::lock_guard lock(mutex_);
  if (is_known(node)) return;
  if (!solver_) solver_ = std::make_unique<PriorSolver>(prior, std::min(group_size, known_.size()));
  find_group(node / group_size, *solver_, found);
  if (unknown_count_ == 0) solver_.reset();
}

void PriorVariances::find_all(const PriorMatrix& prior, std::size_t threads,
                              const std::function<void(double)>& progress, const Found& found) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> groups;
  for (std::size_t first = 0; first < known_.size(); first += group_size) {
    const auto begin = known_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(group_size, known_.size() - first));
    if (std::find(begin, end, 0) != end) groups.push_back(first / group_size);
  }
  if (groups.empty()) return;
  const auto caller = std::this_thread::get_id();
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const std::size_t workers = std::min(threads, groups.size());
  run_jobs(workers, workers, [&](std::size_t /*worker*/) {
    PriorSolver solver(prior, std::min(group_size, known_.size()));
    for (std::size_t k = next++; k < groups.size() && !stopped; k = next++) {
      find_group(groups[k], solver, found);
      if (!progress || std::this_thread::get_id() != caller) continue;
      try {
        progress(static_cast<double>(std::min(next.load(), groups.size())) / static_cast<double>(groups.size()));
      } catch (...) {
        stopped = true;
        throw;
      }
    }
    return true;
  });
  solver_.reset();
}

void PriorVariances::prior_changed() { solver_.reset(); }

std::size_t PriorVariances::bytes() const {
  const std::lock_guard lock(mutex_);
  return known_.size() + (solver_ ? solver_->bytes() : 0);
}

double PriorVariances::bytes(std::size_t nodes, std::size_t edges) {
  constexpr double numbers = (3.0 * sizeof(double) + 7.0 * sizeof(float)) * group_size;  // of a node in the solver
  return static_cast<double>(nodes) * (numbers + 200.0) + 32.0 * static_cast<double>(edges);
}

Eigen::MatrixXd prior_differences(const PriorMatrix& prior, const EdgeColumns& columns) {
  const auto edges = columns.edges();
  Eigen::MatrixXd result(static_cast<Eigen::Index>(prior.node_count()), static_cast<Eigen::Index>(edges.size()));
  PriorSolver solver(prior, std::min(group_size, edges.size()));
  for (std::size_t first = 0; first < edges.size(); first += group_size) {
    const std::size_t count = std::min(group_size, edges.size() - first);
    solver.clear();
    for (std::size_t k = 0; k < count; ++k) {
      solver.set(edges[first + k].a, k, 1.0);
      solver.set(edges[first + k].b, k, -1.0);
    }
    solver.solve(0.0);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t node = 0; node < prior.node_count(); ++node) {
        result(static_cast<Eigen::Index>(node), static_cast<Eigen::Index>(first + k)) =
            EdgeColumns::root(edges[first + k]) * solver.solution(node, k);
      }
    }
  }
  return result;
}

}  // namespace goblin
