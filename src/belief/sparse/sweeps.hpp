#pragma once

#include "belief/low_rank_inverse.hpp"
#include "belief/packs.hpp"
#include "belief/sparse/constant_mode.hpp"
#include "belief/sparse/elimination.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace goblin {

/// Conjugate gradients on N e = r in the precision of Scalar, preconditioned with (D + L) D^{-1} (D + L)^T. L is the
/// part of N below the diagonal in the order of an Elimination, and D_j = pivot_j I + S_j: the incomplete factor of A
/// with the evidence added to its pivots.
///
/// With N = (D + L) + (D + L)^T - D + (diagonal - pivot) both the preconditioner and N cost one sweep back and one
/// forth together (Eisenstat's trick): an iteration is one pass over the edges, 2 m d multiplications, and two
/// applications of D^{-1}.
///
/// Vectors that are the same at every node are solved for apart (ConstantMode), and what is left is kept free of them
/// (deflation): a small ridge would make them slow.
template <typename Scalar>
class Sweeps {
 public:
  Sweeps(const Elimination& elimination, std::size_t dimension);

  /// Sets D_j^{-1} of the node at this position.
  void set_inverse(std::size_t position, LowRankInverse<Scalar> inverse) { inverses_[position] = std::move(inverse); }
  [[nodiscard]] const LowRankInverse<Scalar>& inverse(std::size_t position) const { return inverses_[position]; }

  /// Where r is to be written before solve, by position; what lies behind the dimension stays zero.
  [[nodiscard]] Scalar* residual(std::size_t position) { return residual_.data() + position * stride_; }
  [[nodiscard]] const Scalar* solution(std::size_t position) const { return solution_.data() + position * stride_; }

  /// Solves until r^T M^{-1} r has fallen by the square of `reduction`, M the preconditioner. Returns the iterations.
  std::size_t solve(const Elimination& elimination, const ConstantMode& constant, double reduction,
                    std::size_t max_iterations);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using P = PackOf<Scalar>;

  /// What the sweeps need of a node beside its neighbours and D^{-1}.
  struct Node {
    Scalar pivot;
    Scalar shift;  // diagonal - pivot
    Scalar ridge;
  };

  template <std::size_t Packs>
  std::size_t solve_packs(const Elimination& elimination, const ConstantMode& constant, double reduction,
                          std::size_t max_iterations);

  std::size_t dimension_;
  std::size_t stride_;
  std::vector<Scalar> weights_;                   // as the elimination's
  std::vector<Node> nodes_;                       // by position
  std::vector<LowRankInverse<Scalar>> inverses_;  // D_j^{-1}, by position

  // By position, all of n * stride numbers.
  CacheLineVector<Scalar> solution_;
  CacheLineVector<Scalar> residual_;   // r at first, then z' of z = D (D + L)^{-1} r
  CacheLineVector<Scalar> reduced_;    // (D + L)^{-1} r
  CacheLineVector<Scalar> direction_;  // p' of p
  CacheLineVector<Scalar> backward_;   // t = (D + L)^{-T} p
  CacheLineVector<Scalar> forward_;    // s
  CacheLineVector<Scalar> image_;      // g' of D q
};

}  // namespace goblin
