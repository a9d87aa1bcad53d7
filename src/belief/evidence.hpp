#pragma once

#include "goblin/belief/evidence.hpp"
#include "goblin/graph/names.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// One reward for a context of d numbers, at a node.
struct NodeReward {
  NodeId node;
  const double* context;
  double reward;
};

/// The sums of what was observed at each of some places, which are users or nodes. A place takes memory from its first
/// observation on: d (d + 3) / 2 numbers. Places without observations take four bytes.
///
/// Where observations are taken away again, every sum also keeps what rounding left out of it, as many numbers again.
/// So what is left of a sum that was large once is as exact as if it had always been small.
class Evidence {
 public:
  Evidence(std::size_t dimension, std::size_t places, bool takes_away = false)
      : dimension_(dimension), takes_away_(takes_away), sums_at_(places, none) {}

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t size() const { return sums_at_.size(); }
  [[nodiscard]] bool takes_away() const { return takes_away_; }

  void add_place() { sums_at_.push_back(none); }
  /// Takes away places that were added after so many, and where nothing was observed.
  void keep_first(std::size_t places) { sums_at_.resize(places); }

  /// Notes that something will be observed at a place. From then on several threads may add at the same time, each to
  /// places of its own.
  void expect(std::size_t place);
  /// The same, and takes the memory for it: then adding takes none.
  void reserve(std::size_t place) { sums(place); }
  /// O(d^2).
  void add(std::size_t place, std::span<const double> context, double reward);
  /// Adds sums that were taken elsewhere. O(d^2).
  void add(std::size_t place, const UserEvidence& sums);
  /// The same of sums of the same kind, with what rounding left out of them.
  void add(std::size_t place, const Evidence& other, std::size_t other_place);
  /// Takes away what was added before, where the evidence takes_away. A place that has nothing left is as if nothing
  /// had ever been observed there.
  void take_away(std::size_t place, std::span<const double> context, double reward);
  void take_away(std::size_t place, const UserEvidence& sums);
  /// Multiplies the sums of a place by a factor; the number of rewards stays. Only where nothing is taken away.
  void scale(std::size_t place, double factor);
  /// Forgets what was observed at a place.
  void clear(std::size_t place);

  /// What was observed at a place, to be put back if a change is not to be.
  class Before;
  [[nodiscard]] Before before(std::size_t place) const;
  /// Bit by bit. Takes no memory.
  void put_back(Before& before);
  /// What a place takes. The list of sums may be twice as long as it needs to be.
  [[nodiscard]] double place_bytes() const {
    return static_cast<double>(numbers_of_a_place() * sizeof(double) + 2 * sizeof(Sums));
  }

  [[nodiscard]] UserEvidence at(std::size_t place) const;
  /// What at() will give, bit by bit, when these rewards have been added there. It is in the memory of this thread
  /// until the thread asks again.
  [[nodiscard]] UserEvidence with(std::size_t place, std::span<const NodeReward> rewards) const;

  [[nodiscard]] std::size_t bytes() const;
  /// Once every place has been observed.
  [[nodiscard]] static std::size_t bytes(std::size_t dimension, std::size_t places, bool takes_away = false);

  void save(BinaryWriter& out) const;
  static Evidence load(BinaryReader& in, bool takes_away = false);

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Sums {
    std::size_t count = 0;
    double squared_rewards = 0.0;
    double squared_rest = 0.0;    // what rounding left out of them
    std::vector<double> numbers;  // S packed, then c, and where something is taken away what rounding left out of them
  };

  [[nodiscard]] std::size_t packed_size() const { return dimension_ * (dimension_ + 1) / 2; }
  [[nodiscard]] std::size_t sum_count() const { return packed_size() + dimension_; }
  [[nodiscard]] std::size_t numbers_of_a_place() const { return (takes_away_ ? 2 : 1) * sum_count(); }
  Sums& sums(std::size_t place);
  [[nodiscard]] UserEvidence seen(const Sums& sums) const;
  void add(Sums& sums, std::span<const double> context, double reward) const;
  void add_exactly(Sums& sums, std::span<const double> context, double reward, double sign) const;
  void add_exactly(Sums& sums, const UserEvidence& other, double sign) const;

  std::size_t dimension_;
  bool takes_away_;
  std::vector<std::uint32_t> sums_at_;  // where a place's sums are in sums_
  std::vector<Sums> sums_;
};

class Evidence::Before {
  friend class Evidence;
  std::size_t place_ = 0;
  Sums sums_;  // no numbers where nothing was observed
};

}  // namespace goblin
