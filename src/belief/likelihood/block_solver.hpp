#pragma once

#include "belief/likelihood/likelihood_solver.hpp"
#include "belief/local/block_cg.hpp"

#include <cstddef>
#include <vector>

namespace goblin {

/// B^{-1} for B = diag(A_ii I + S_i): a matrix for each node that something was observed at, a number for the others.
class DiagonalBlocks {
 public:
  DiagonalBlocks(std::vector<double> diagonal, std::size_t dimension)
      : dimension_(dimension), diagonal_(std::move(diagonal)), at_(diagonal_.size(), none) {}

  [[nodiscard]] std::size_t size() const { return diagonal_.size(); }
  [[nodiscard]] double diagonal(std::size_t node) const { return diagonal_[node]; }
  /// nullptr where nothing was observed: B_i^{-1} = I / diagonal.
  [[nodiscard]] const double* inverse(std::size_t node) const {
    return at_[node] == none ? nullptr : inverses_.data() + at_[node] * dimension_ * dimension_;
  }
  /// The same to be written to; I / diagonal at first.
  double* inverse_to_change(std::size_t node);

  /// B^{-1} times eight vectors.
  void apply(const LaneRow* from, LaneRow* to) const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t dimension_;
  std::vector<double> diagonal_;
  std::vector<std::size_t> at_;
  std::vector<double> inverses_;
};

/// to = B p - coupling W p, where bp is B p. Gives p.to.
[[nodiscard]] LaneRow multiply(const PriorMatrix& prior, std::size_t dimension, const LaneRow* p, const LaneRow* bp,
                               LaneRow* to);

class BlockLikelihoodSolver final : public LikelihoodSolver {
 public:
  explicit BlockLikelihoodSolver(const Evidence& evidence);
  [[nodiscard]] PriorFit fit(const PriorMatrix& prior, std::size_t blocks) const override;

 private:
  /// S = V diag(values) V^T at a node, and V^T c.
  struct Spectrum {
    std::vector<double> values;
    std::vector<double> vectors;  // column by column
    std::vector<double> rewards;  // c
    std::vector<double> turned_rewards;
  };
  void fill_probes(const PriorMatrix& prior, std::size_t block, BlockCgVectors& vectors) const;

  std::size_t dimension_;
  std::vector<Spectrum> spectra_;  // empty vectors where nothing was observed
};

class BlockProgressiveMeans final : public ProgressiveMeans {
 public:
  BlockProgressiveMeans(const PriorMatrix& prior, std::size_t dimension);
  [[nodiscard]] double mean(NodeId node, std::span<const double> context) const override;
  void learn(NodeId node, std::span<const double> context, double reward) override;
  void settle(double tolerance) override;

 private:
  PriorMatrix prior_;
  std::size_t dimension_;
  DiagonalBlocks blocks_;
  std::vector<double> means_;
  std::vector<double> residuals_;  // c - N w
  double learned_ = 0.0;           // the sum of all |a x|^2
  std::vector<double> product_;
  BlockCgVectors vectors_;
};

}  // namespace goblin
