#pragma once

#include "goblin/belief/options.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

namespace goblin {

class PriorMatrix;

/// What a component costs with an engine: seconds on one thread, once every node has as many rewards as d, and bytes.
struct EngineCosts {
  double make = 0.0;    ///< until every node is ready to be asked
  double learn = 0.0;   ///< a reward
  double decide = 0.0;  ///< among 25 candidates
  double bytes = 0.0;

  /// A round of one decision and one reward, with its share of the making: that counts as paid for after ten rounds a
  /// node.
  [[nodiscard]] double round(std::size_t nodes) const {
    return learn + decide + make / (10.0 * static_cast<double>(nodes));
  }
};

/// The estimate. `./dev bench --benchmark_filter=engine_costs` shows measured beside estimated times, and
/// docs/engines.md has a table of both; the constants are those of a processor of 2023 (AVX-512, 2 MB of second-level
/// cache). Only ratios decide, so that another processor seldom chooses otherwise.
[[nodiscard]] EngineCosts engine_costs(EngineKind kind, std::size_t nodes, std::size_t edges, std::size_t dimension);

/// How strongly friends pull beside the ridge: the mean of coupling * degree / ridge over the nodes, of which none
/// counts for more than a thousand, because a few heavy edges say nothing about the others. Where it is large, what a
/// reward changes reaches everybody, and local can keep its tolerance no longer.
class Pull {
 public:
  void add(double coupled_degree, double ridge) {
    sum_ += std::min(most, coupled_degree / ridge);
    ++nodes_;
  }
  /// O(n + m).
  void add(const PriorMatrix& prior);
  [[nodiscard]] double value() const { return nodes_ == 0 ? 0.0 : sum_ / static_cast<double>(nodes_); }

 private:
  static constexpr double most = 1000.0;
  double sum_ = 0.0;
  std::size_t nodes_ = 0;
};

/// What of a component its engine is chosen by.
struct ComponentShape {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::function<double()> pull;  ///< Pull::value(), which is only asked where it decides
};
[[nodiscard]] ComponentShape shape_of(const PriorMatrix& prior);

/// The kind that `automatic` stands for in a component, and why:
///
/// - dense or sparse, whichever has the cheaper round, if that takes at most 10 ms;
/// - but dense only as long as its matrix has at most 32 MB: memory is what it is dear in;
/// - sparse, too, if its round takes at most 25 ms and the ridge is so small that local would not keep its tolerance;
/// - local where no exact round is that cheap.
struct EngineChoice {
  EngineKind kind;
  std::string reason;
};
[[nodiscard]] EngineChoice explain_engine(EngineKind wanted, const ComponentShape& shape, std::size_t dimension);
[[nodiscard]] EngineKind choose_engine(EngineKind wanted, const ComponentShape& shape, std::size_t dimension);

}  // namespace goblin
