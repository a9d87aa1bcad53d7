#pragma once

#include "belief/prior_matrix.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <Eigen/Core>

namespace goblin {

class EdgeColumns;
class PriorSolver;

/// The variances before anything is observed, which are the diagonal of A^{-1}: which of them somebody knows already,
/// and how to find the others when they are asked for.
///
/// They are found for 32 nodes at a time, those whose numbers are next to each other: without evidence N is A (x) I_d,
/// so that one solve with d = 32 is 32 columns of A^{-1}. All of them are n / 32 solves: nothing at 2,000 nodes, a
/// minute at 50,000. As the groups are always the same, what is found does not depend on who asks first.
///
/// const calls may run at the same time.
class PriorVariances {
 public:
  /// Takes a node and its variance, once for each node.
  using Found = std::function<void(std::size_t node, double variance)>;

  explicit PriorVariances(std::size_t nodes);
  /// Only under the other's lock().
  PriorVariances(const PriorVariances& other);
  PriorVariances(PriorVariances&&) = delete;
  PriorVariances& operator=(const PriorVariances&) = delete;
  PriorVariances& operator=(PriorVariances&&) = delete;
  ~PriorVariances();

  [[nodiscard]] bool is_known(std::size_t node) const {
    return std::atomic_ref(known_[node]).load(std::memory_order_acquire) != 0;
  }
  /// Its variance came from elsewhere. Several threads may say so, each of nodes of its own.
  void set_known(std::size_t node);

  /// Calls found for the node and for those of its group that are not known; nobody sees them as known before.
  void find(std::size_t node, const PriorMatrix& prior, const Found& found) const;
  /// For all that are not known. `progress` may be empty; it is told the share that is done, from the calling thread.
  void find_all(const PriorMatrix& prior, std::size_t threads, const std::function<void(double)>& progress,
                const Found& found) const;
  /// Calls found with a variance that somebody else has found, if it is not known yet.
  void take(std::size_t node, double variance, const Found& found) const;
  /// The prior matrix is another one from now on. What is known stays so.
  void prior_changed();

  /// While it is held, nothing is found.
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  [[nodiscard]] std::size_t bytes() const;
  /// While something is not known.
  [[nodiscard]] static double bytes(std::size_t nodes, std::size_t edges);

 private:
  void find_group(std::size_t group, PriorSolver& solver, const Found& found) const;

  mutable std::mutex mutex_;
  mutable std::vector<std::uint8_t> known_;  // read and written as atomics
  mutable std::atomic<std::size_t> unknown_count_;
  mutable std::unique_ptr<PriorSolver> solver_;  // for find; there while something is not known
};

/// A^{-1} B, B the columns of some edges, n numbers each. A solve for every 32 edges.
[[nodiscard]] Eigen::MatrixXd prior_differences(const PriorMatrix& prior, const EdgeColumns& columns);

}  // namespace goblin
