#pragma once

#include "goblin/belief/evidence.hpp"
#include "goblin/graph/graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goblin {

/// How a user looks at a node: a linear map P from a user's context, d numbers, to the numbers of the node.
///
/// The node learns P x where the user saw x. So a user's sums S and c count at the node as P S P^T and P c, and what is
/// believed of the user is P^T w and P^T C P, w and C being the node's. Evidence is kept for users as they saw it; that
/// of the nodes follows from it.
///
/// There are two kinds. P = factor I, and 1 is the usual factor; sqrt(degree) makes the normalized Laplacian of the
/// combinatorial one. Or P hashes: coordinate k is added, with a sign, to one of m buckets that all users have for it,
/// and to one that only this user has, so that a product of contexts of two users, P x.P' x', is x.x' on average, and
/// 2 x.x' of the same user.
class Lens {
 public:
  Lens(std::size_t dimension, double factor)
      : dimension_(dimension), node_dimension_(dimension), factor_(factor), stretch_(factor) {}
  [[nodiscard]] static Lens hashing(std::size_t dimension, std::size_t buckets, std::uint64_t seed, NodeId user);

  [[nodiscard]] bool hashes() const { return !terms_.empty(); }
  [[nodiscard]] double factor() const { return factor_; }
  /// |P x| <= stretch |x|.
  [[nodiscard]] double stretch() const { return stretch_; }
  /// The numbers of the node that P x can be different from zero at, ascending; of one that hashes.
  [[nodiscard]] std::span<const std::uint32_t> places() const { return places_; }

  /// P x. O(d), and m zeros.
  void to_node(std::span<const double> context, std::span<double> out) const;
  /// Sums that were taken elsewhere, or computed.
  struct Sums {
    std::vector<double> contexts;
    std::vector<double> rewards;
    std::size_t count = 0;
    double squared_rewards = 0.0;

    [[nodiscard]] UserEvidence view() const {
      return {.contexts = contexts, .rewards = rewards, .count = count, .squared_rewards = squared_rewards};
    }
  };
  /// P S P^T and P c. O(d^2), and m^2 / 2 zeros.
  [[nodiscard]] Sums to_node(const UserEvidence& evidence) const;

  /// P^T v, for v with all numbers of the node. O(d).
  void to_user(std::span<const double> vector, std::span<double> out) const;
  /// P^T v and P^T C P, for those numbers of v, and those rows and columns of C, that are at places(). O(d^2).
  void gathered_to_user(std::span<const double> vector, std::span<const double> matrix, std::span<double> mean,
                        std::span<double> covariance) const;

 private:
  /// What a coordinate is added to.
  struct Term {
    std::uint32_t bucket;
    std::uint32_t at;  // in places_
    double sign;
  };
  [[nodiscard]] const std::array<Term, 2>& terms(std::size_t coordinate) const { return terms_[coordinate]; }

  std::size_t dimension_;
  std::size_t node_dimension_;
  double factor_;
  double stretch_;
  std::vector<std::array<Term, 2>> terms_;  // of each coordinate
  std::vector<std::uint32_t> places_;
};

/// The lenses of all users. They take no memory where all are the same, and else a number a node at most.
class Lenses {
 public:
  /// Everybody sees the nodes as they are.
  explicit Lenses(std::size_t dimension) : dimension_(dimension) {}
  /// A factor for each node, which has one user.
  static Lenses scaling(std::size_t dimension, std::vector<double> factors);
  static Lenses hashing(std::size_t dimension, std::size_t buckets, std::uint64_t seed);

  [[nodiscard]] bool are_plain() const { return !scale_ && buckets_ == 0; }
  [[nodiscard]] bool scale() const { return scale_; }
  [[nodiscard]] bool hash() const { return buckets_ > 0; }
  /// How many numbers a context has, and how many a node.
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t node_dimension() const { return hash() ? buckets_ : dimension_; }

  [[nodiscard]] Lens of(NodeId user, NodeId node) const {
    return hash() ? Lens::hashing(dimension_, buckets_, seed_, user) : Lens(dimension_, factor(node));
  }
  /// 1 where contexts are not multiplied by one.
  [[nodiscard]] double factor(NodeId node) const { return scale_ ? factors_[node] : 1.0; }
  [[nodiscard]] std::span<const double> factors() const { return factors_; }

  void set_factor(NodeId node, double factor) { factors_[node] = factor; }
  /// Another node, of a user without friends.
  void add_node() {
    if (scale_) factors_.push_back(1.0);
  }
  /// Takes away the nodes that were added after so many.
  void keep_first(std::size_t nodes) {
    if (scale_) factors_.resize(nodes);
  }
  [[nodiscard]] std::size_t bytes() const { return factors_.capacity() * sizeof(double); }

 private:
  std::size_t dimension_;
  bool scale_ = false;
  std::vector<double> factors_;  // of the nodes
  std::size_t buckets_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace goblin
