#include "belief/node_inverse.hpp"

#include "belief/unpacked.hpp"
#include "binary.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace goblin {

void NodeInverse::make_whole(std::size_t dimension) {
  std::vector<double> matrix(dimension * dimension, 0.0);
  for (std::size_t c = 0; c < dimension; ++c) matrix[c * dimension + c] = 1.0 / diagonal_;
  for (std::size_t t = 0; t < terms_.size(); t += dimension) {
    for (std::size_t c = 0; c < dimension; ++c) {
      for (std::size_t r = 0; r < dimension; ++r) matrix[c * dimension + r] -= terms_[t + c] * terms_[t + r];
    }
  }
  terms_ = std::move(matrix);
  whole_ = true;
}

void NodeInverse::observe(std::span<const double> context) {
  const std::size_t d = context.size();
  std::vector<double> term(d);
  apply(context.data(), term.data(), d);
  double q = 0.0;
  for (std::size_t k = 0; k < d; ++k) q += context[k] * term[k];
  for (double& value : term) value /= std::sqrt(1.0 + std::max(0.0, q));
  if (!whole_ && 2 * (terms_.size() / d + 1) > d) make_whole(d);
  if (whole_) {
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t r = 0; r < d; ++r) terms_[c * d + r] -= term[c] * term[r];
    }
  } else {
    terms_.reserve(terms_.size() + d);  // no more than asked for: most nodes have few
    terms_.insert(terms_.end(), term.begin(), term.end());
  }
}

void NodeInverse::rebuild(double diagonal, std::span<const double> contexts, std::size_t dimension) {
  if (!contexts.empty()) return rebuild(diagonal, unpacked(contexts, dimension));
  *this = NodeInverse(diagonal);
}

void NodeInverse::rebuild(double diagonal, const Eigen::MatrixXd& observed) {
  diagonal_ = diagonal;
  whole_ = true;
  Eigen::MatrixXd precision = observed;
  precision.diagonal().array() += diagonal;
  const Eigen::MatrixXd inverse = precision.llt().solve(Eigen::MatrixXd::Identity(observed.rows(), observed.cols()));
  terms_.assign(inverse.data(), inverse.data() + inverse.size());
}

Eigen::MatrixXd NodeInverse::observed(std::size_t dimension) const {
  NodeInverse all = *this;
  if (!all.whole_) all.make_whole(dimension);
  const auto d = static_cast<Eigen::Index>(dimension);
  const Eigen::Map<const Eigen::MatrixXd> inverse(all.terms_.data(), d, d);
  Eigen::MatrixXd result = inverse.llt().solve(Eigen::MatrixXd::Identity(d, d));
  result.diagonal().array() -= diagonal_;
  return result;
}

void NodeInverse::save(BinaryWriter& out) const {
  out.number(diagonal_);
  out.number(static_cast<std::uint8_t>(whole_ ? 1 : 0));
  out.array(terms_);
}

NodeInverse::NodeInverse(BinaryReader& in, std::size_t dimension) : diagonal_(in.number<double>()) {
  whole_ = in.number<std::uint8_t>() != 0;
  terms_ = in.array<double>();
  in.expect(diagonal_ > 0.0 && (whole_ ? terms_.size() == dimension * dimension : terms_.size() % dimension == 0),
            "the terms of a node");
}

}  // namespace goblin
