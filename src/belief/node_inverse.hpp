#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// B^{-1} of B = diagonal I + S, S the sum of x x^T over the observations of one node.
///
/// While there are few of them it is I / diagonal - sum of t t^T, one t an observation: two products of length d each
/// when it is applied. From d / 2 observations on it is a matrix.
class NodeInverse {
 public:
  explicit NodeInverse(double diagonal) : diagonal_(diagonal) {}

  /// S += x x^T, so B^{-1} -= t t^T with t = B^{-1} x / sqrt(1 + x^T B^{-1} x). O(d^2).
  void observe(std::span<const double> context);

  /// From the packed lower triangle of S (Evidence::contexts) and a diagonal. O(d^3).
  void rebuild(double diagonal, std::span<const double> contexts, std::size_t dimension);

  /// to = B^{-1} from, for a vector or, number by number, several at once.
  template <typename Number>
  void apply(const Number* from, Number* to, std::size_t dimension) const {
    if (whole_) {
      for (std::size_t r = 0; r < dimension; ++r) to[r] = Number{};
      for (std::size_t c = 0; c < dimension; ++c) {
        const double* column = terms_.data() + c * dimension;
        const Number factor = from[c];
        for (std::size_t r = 0; r < dimension; ++r) to[r] += column[r] * factor;
      }
      return;
    }
    const double scale = 1.0 / diagonal_;
    for (std::size_t r = 0; r < dimension; ++r) to[r] = scale * from[r];
    for (std::size_t t = 0; t < terms_.size(); t += dimension) {
      const double* term = terms_.data() + t;
      Number product{};
      for (std::size_t r = 0; r < dimension; ++r) product += term[r] * from[r];
      for (std::size_t r = 0; r < dimension; ++r) to[r] -= term[r] * product;
    }
  }

  /// S = B - diagonal I, from B^{-1}. O(d^3).
  [[nodiscard]] Eigen::MatrixXd observed(std::size_t dimension) const;
  /// The other way round.
  void rebuild(double diagonal, const Eigen::MatrixXd& observed);

  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + terms_.capacity() * sizeof(double); }

  void save(BinaryWriter& out) const;
  NodeInverse(BinaryReader& in, std::size_t dimension);

 private:
  void make_whole(std::size_t dimension);

  double diagonal_;
  std::vector<double> terms_;  // t after t, or the columns of the matrix
  bool whole_ = false;
};

}  // namespace goblin
