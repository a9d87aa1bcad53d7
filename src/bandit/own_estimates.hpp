#pragma once

#include "goblin/belief/evidence.hpp"
#include "goblin/graph/names.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace goblin {

/// What each user's own rewards say of the user: w_i = (ridge I + S_i)^{-1} c_i, and how sure that is. It follows from
/// the evidence, to the bit. A user takes memory from the first reward on, d + 1 numbers.
class OwnEstimates {
 public:
  OwnEstimates(std::size_t dimension, double ridge, std::size_t users)
      : dimension_(dimension), ridge_(ridge), places_(users, none), zero_(dimension, 0.0) {}

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t user_count() const { return places_.size(); }
  void add_user() { places_.push_back(none); }
  /// Takes away users without rewards that were added after so many.
  void keep_first(std::size_t users) { places_.resize(users); }
  /// From the user's evidence as it is now. O(d^3).
  void update(NodeId user, const UserEvidence& evidence);

  /// As before the user's first reward.
  void clear(NodeId user);

  /// w_i; zero before the first reward.
  [[nodiscard]] std::span<const double> at(NodeId user) const {
    if (places_[user] == none) return zero_;
    return std::span(numbers_).subspan(places_[user] * dimension_, dimension_);
  }
  /// F(T) = sqrt((1 + ln(1 + T)) / (1 + T)), T the number of the user's rewards.
  [[nodiscard]] double uncertainty(NodeId user) const {
    return places_[user] == none ? 1.0 : uncertainties_[places_[user]];
  }

  [[nodiscard]] std::size_t bytes() const {
    return places_.capacity() * sizeof(std::uint32_t) + (numbers_.capacity() + uncertainties_.capacity()) * 8;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::size_t dimension_;
  double ridge_;
  std::vector<std::uint32_t> places_;  // of the users
  std::vector<double> numbers_;        // d for each place
  std::vector<double> uncertainties_;
  std::vector<double> zero_;
};

}  // namespace goblin
