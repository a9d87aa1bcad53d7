#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace goblin {

/// How the belief about a connected component of the graph is kept. docs/engines.md compares the three.
enum class EngineKind {
  automatic,  ///< by what a reward costs: dense or sparse, or local where both would take long
  dense,      ///< exact: the whole inverse of the precision matrix
  sparse,     ///< exact to a tolerance: the mean and the covariance of every node, a linear solve for every reward
  local       ///< approximate, with a proved bound: only the surroundings of the user are looked at
};

[[nodiscard]] std::string_view name_of(EngineKind kind);
/// The kind of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] EngineKind engine_kind(std::string_view name);

struct LocalOptions {
  /// How far the scores of local may be off: the mean x.w and the standard deviation sqrt(x^T C x) of a context x that
  /// is about as long as those learned lately. Decision::bounds says how far each score can really be off. That may be
  /// more than this tolerance where one of the two limits below stops the work early, and for longer contexts.
  double tolerance = 0.001;
  /// A decision looks at the evidence of at most so many nodes, and of four times as many (16 times, up to 10 numbers a
  /// context) where it would be off by more than two tolerances. Components of that size or less are exact.
  std::size_t most_nodes = 64;
  /// Learning a reward walks over at most so many edges. What is left then is taken up by the next reward.
  std::size_t most_edges = 100'000;
};

struct EngineOptions {
  EngineKind kind = EngineKind::automatic;
  /// sparse: a solve has converged when |residual| <= tolerance * |right-hand side|. It goes on to a tenth of that, and
  /// further where contexts are longer than sqrt(ridge), so that scores stay good over thousands of rewards.
  double tolerance = 1e-8;
  /// sparse: a solve gives up after so many iterations, and says so.
  std::size_t max_iterations = 1000;
  LocalOptions local = {};
  /// How many threads a change of many rewards or edges at once may use; 0 stands for as many as the machine has. The
  /// belief is the same for any number. A model file does not hold it.
  std::size_t threads = 0;
  /// The bytes that a bandit may take; 0 stands for what the machine has free. It is compared with what the bandit will
  /// need when the bandit is made, when an edge joins two components, and before many rewards or edges change it at
  /// once, it is merged or computed anew. A model file does not hold it.
  std::size_t memory_limit = 0;
  /// Called now and then while a bandit is made or saved, learns many rewards or edges at once, is merged or computed
  /// anew, with the share that is done, 0 to 1, from the thread that asked for it. What it throws stops the work and
  /// reaches the caller: there is no bandit then, no new file, or a bandit that has learned nothing of it. It must not
  /// call the bandit. A model file does not hold it.
  std::function<void(double share)> progress = {};
};

}  // namespace goblin
