#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// Contexts as the belief knows them: as the caller gave them or, with BanditOptions::intercept, copies that have a 1
/// after each. This is where callers' contexts come in.
class CompleteContexts {
 public:
  /// Room for so many.
  CompleteContexts(const BanditOptions& options, std::size_t count)
      : dimension_(options.dimension), intercept_(options.intercept) {
    if (intercept_) room_.reserve(count * options.weight_count());
  }
  CompleteContexts(const CompleteContexts&) = delete;
  CompleteContexts& operator=(const CompleteContexts&) = delete;
  ~CompleteContexts() = default;

  /// One or several, `dimension` numbers each. They live as long as this, or as the caller's.
  [[nodiscard]] std::span<const double> complete(std::span<const double> contexts) {
    return intercept_ ? with_ones(contexts) : contexts;
  }

 private:
  [[nodiscard]] std::span<const double> with_ones(std::span<const double> contexts) {
    const std::size_t begin = room_.size();
    for (std::size_t k = 0; k < contexts.size(); k += dimension_) {
      const auto one = contexts.subspan(k, dimension_);
      room_.insert(room_.end(), one.begin(), one.end());
      room_.push_back(1.0);
    }
    return std::span(room_).subspan(begin);
  }

  std::size_t dimension_;
  bool intercept_;
  std::vector<double> room_;
};

}  // namespace goblin
