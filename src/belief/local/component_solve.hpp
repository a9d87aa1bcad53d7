#pragma once

#include "belief/local/barrier.hpp"
#include "belief/local/local_nodes.hpp"
#include "belief/packs.hpp"
#include "belief/prior_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// Solves N u = r for the residuals r of all nodes of a component at once, and adds u to their means: conjugate
/// gradients with the blocks B_j = A_jj I + S_j of the diagonal as preconditioner,
///
///     z = B^{-1} r,   p = z + beta p,   q = N p = B p - coupling W p,   w += alpha p,   r -= alpha q.
///
/// B p follows p without a product: B p = r + beta B p. So an iteration is a pass over the edges, one over the B_j^{-1}
/// and one over the vectors. p, B p and q are Scalars, w and r doubles.
///
/// All nodes have a slot. Sums are taken over parts of the nodes that do not depend on the number of threads.
template <typename Scalar>
class ComponentSolve {
 public:
  /// What it takes for each node, in bytes.
  [[nodiscard]] static std::size_t bytes_a_node(std::size_t dimension) {
    return 3 * padded<Scalar>(dimension) * sizeof(Scalar);
  }

  ComponentSolve(const PriorMatrix& prior, std::span<const double> diagonal, const Barrier& barrier, LocalNodes& nodes,
                 std::size_t threads)
      : prior_(prior),
        diagonal_(diagonal),
        barrier_(barrier),
        nodes_(nodes),
        threads_(threads),
        stride_(padded<Scalar>(nodes.dimension())),
        direction_(prior.node_count() * stride_),
        block_product_(direction_.size()),
        product_(direction_.size()) {}

  /// Until no |r_j| / slope_j is above `goal`, or it does not get on. Gives the number of iterations. After each it
  /// tells about which share is done: of the digits that the largest residual has to lose.
  template <typename Tell>
  std::size_t run(double goal, const Tell& tell) {
    constexpr std::size_t most_iterations = 2000;
    Residual residual = move(0.0);
    const double first = residual.largest;
    const double digits = std::log(first / goal);
    turn(0.0);
    std::size_t iteration = 0;
    while (residual.largest > goal && iteration < most_iterations) {
      const double curvature = multiply();
      if (!(curvature > 0.0)) break;
      const double energy = residual.energy;
      residual = move(energy / curvature);
      ++iteration;
      if (!(residual.energy > 0.0 && std::isfinite(residual.energy))) break;
      turn(residual.energy / energy);
      tell(digits > 0.0 ? std::clamp(std::log(first / residual.largest) / digits, 0.0, 1.0) : 0.0);
    }
    return iteration;
  }

 private:
  static constexpr std::size_t nodes_in_a_part = 1024;
  struct Residual {
    double energy = 0.0;   // r.z
    double largest = 0.0;  // |r_j| / slope_j
  };
  using P = PackOf<Scalar>;

  template <typename Work>
  void in_parts(const Work& work) {
    run_parts(prior_.node_count(), nodes_in_a_part, threads_, work);
  }

  /// w += step p, r -= step q, and z = B^{-1} r in place of q.
  Residual move(double step) {
    std::vector<Residual> parts(part_count(prior_.node_count(), nodes_in_a_part));
    const std::size_t d = nodes_.dimension();
    in_parts([&](std::size_t part, std::size_t first, std::size_t end) {
      std::vector<double> solution(nodes_.stride());
      for (std::size_t node = first; node < end; ++node) {
        const auto id = static_cast<NodeId>(node);
        const std::size_t slot = nodes_.find(id);
        double* const mean = nodes_.mean(slot);
        double* const residual = nodes_.residual(slot);
        const Scalar* const p = direction_.data() + node * stride_;
        Scalar* const q = product_.data() + node * stride_;
        double squared = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
          mean[k] += step * static_cast<double>(p[k]);
          residual[k] -= step * static_cast<double>(q[k]);
          squared += residual[k] * residual[k];
        }
        nodes_.apply_inverse_packs(id, diagonal_[node], residual, solution.data());
        double energy = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
          energy += residual[k] * solution[k];
          q[k] = static_cast<Scalar>(solution[k]);
        }
        parts[part].energy += energy;
        parts[part].largest = std::max(parts[part].largest, std::sqrt(squared) / barrier_.slope(node));
      }
    });
    Residual total;
    for (const Residual& one : parts) {
      total.energy += one.energy;
      total.largest = std::max(total.largest, one.largest);
    }
    return total;
  }

  /// p = z + factor p, B p = r + factor B p.
  void turn(double factor) {
    const auto scale = static_cast<Scalar>(factor);
    const std::size_t d = nodes_.dimension();
    in_parts([&](std::size_t /*part*/, std::size_t first, std::size_t end) {
      for (std::size_t node = first; node < end; ++node) {
        const double* const residual = nodes_.residual(nodes_.find(static_cast<NodeId>(node)));
        const std::size_t row = node * stride_;
        for (std::size_t k = 0; k < d; ++k) {
          direction_[row + k] = product_[row + k] + scale * direction_[row + k];
          block_product_[row + k] = static_cast<Scalar>(residual[k]) + scale * block_product_[row + k];
        }
      }
    });
  }

  /// q = B p - coupling W p. Gives p.q.
  double multiply() {
    std::vector<double> parts(part_count(prior_.node_count(), nodes_in_a_part));
    const std::size_t count = stride_ / pack_width<Scalar>;
    with_pack_count(count, [&](auto packs_known) {
      in_parts([&](std::size_t part, std::size_t first, std::size_t end) {
        Total<Scalar> total;
        for (std::size_t node = first; node < end; ++node) {
          PackRow<Scalar, decltype(packs_known)::value> row(count);
          const P* const own = packs(block_product_.data() + node * stride_);
          for (std::size_t b = 0; b < count; ++b) row[b] = own[b];
          const auto neighbours = prior_.graph().neighbours(node);
          const auto weights = prior_.graph().weights(node);
          constexpr std::size_t ahead = 6;
          for (std::size_t n = 0; n < neighbours.size(); ++n) {
            if (n + ahead < neighbours.size()) {
              const auto* const soon =
                  reinterpret_cast<const char*>(direction_.data() + neighbours[n + ahead] * stride_);
              for (std::size_t byte = 0; byte < stride_ * sizeof(Scalar); byte += 64) __builtin_prefetch(soon + byte);
            }
            const auto factor = static_cast<Scalar>(prior_.coupling() * weights[n]);
            const P* const other = packs(direction_.data() + neighbours[n] * stride_);
            for (std::size_t b = 0; b < count; ++b) row[b] -= factor * other[b];
          }
          const P* const p = packs(direction_.data() + node * stride_);
          P* const q = packs(product_.data() + node * stride_);
          for (std::size_t b = 0; b < count; ++b) {
            total.add(p[b] * row[b]);
            q[b] = row[b];
          }
        }
        parts[part] = total.value();
      });
    });
    double total = 0.0;
    for (const double one : parts) total += one;
    return total;
  }

  const PriorMatrix& prior_;
  std::span<const double> diagonal_;
  const Barrier& barrier_;
  LocalNodes& nodes_;
  std::size_t threads_;
  std::size_t stride_;
  CacheLineVector<Scalar> direction_;      // p
  CacheLineVector<Scalar> block_product_;  // B p
  CacheLineVector<Scalar> product_;        // q, and z where q is no longer needed
};

}  // namespace goblin
