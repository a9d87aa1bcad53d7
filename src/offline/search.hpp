#pragma once

#include "offline/likelihood.hpp"
#include "offline/work.hpp"

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace goblin::offline {

/// A ridge and a coupling, as exponents: 10^(ridge / 4), 10^(coupling / 4).
struct Place {
  int ridge = 0;
  int coupling = 0;

  [[nodiscard]] auto operator<=>(const Place&) const = default;
};
inline constexpr int decade = 4;
[[nodiscard]] double value_of(int exponent);

/// A policy's nodes, and where its settings are looked for: all that one policy does differently from another.
class Model {
 public:
  /// unit: the mean squared length of the contexts, which says what a large ridge is.
  Model(Policy policy, const Graph& users, std::span<const NodeId> clusters, std::size_t dimension, double unit);

  [[nodiscard]] Policy policy() const { return policy_; }
  /// The node of each user.
  [[nodiscard]] std::span<const NodeId> node_of() const { return node_of_; }
  [[nodiscard]] std::size_t node_count() const { return likelihood_->nodes().node_count(); }
  /// Whether coupling matters.
  [[nodiscard]] bool has_edges() const { return edges_ > 0; }

  [[nodiscard]] PriorMatrix prior(Place place) const;
  [[nodiscard]] LikelihoodPoint at(const NodeEvidence& evidence, Place place, std::optional<double> noise = {}) const;
  /// The ridge that BanditOptions has.
  [[nodiscard]] double ridge(Place place) const;

  /// A decade apart.
  [[nodiscard]] std::vector<Place> coarse() const;
  /// The one with the least coupling.
  [[nodiscard]] Place uncoupled(int ridge) const { return {ridge, coupling_centre_ - lowest_coupling}; }
  [[nodiscard]] bool allows(Place place) const;
  /// Whether a place further out is not allowed.
  [[nodiscard]] bool at_limit(Place place) const;

 private:
  static constexpr int lowest_coupling = 3 * decade;

  Policy policy_;
  Graph users_;
  std::vector<NodeId> node_of_;
  std::size_t edges_;
  double largest_degree_ = 0.0;
  int ridge_centre_;
  int coupling_centre_ = 0;
  std::unique_ptr<MarginalLikelihood> likelihood_;
};

/// The highest score of a model on the lattice of places: a log likelihood, or something of the same scale. From the
/// places it begins with it goes to the best of the eight around the best, by large steps first, then by smaller ones.
class Search {
 public:
  using Score = std::function<LikelihoodPoint(Place)>;

  /// The score is LikelihoodPoint::log_likelihood; it is asked by several threads at a time.
  Search(const Model& model, Score score, std::vector<Place> begin, int step, int last_step = 1);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] Place best() const { return best_; }
  [[nodiscard]] const LikelihoodPoint& best_point() const { return tried_.at(best_); }
  [[nodiscard]] const std::map<Place, LikelihoodPoint>& tried() const { return tried_; }

 private:
  friend void run(std::span<Search> searches, Work& work);
  /// The places to look at next; none at the end.
  [[nodiscard]] std::vector<Place> next();
  void take(Place place, const LikelihoodPoint& point);

  const Model* model_;
  Score score_;
  std::vector<Place> begin_;
  int step_;
  int last_step_;
  std::optional<Place> centre_;  // none before the first places are tried
  Place best_;
  std::map<Place, LikelihoodPoint> tried_;
};

/// All of them, side by side.
void run(std::span<Search> searches, Work& work);

}  // namespace goblin::offline
