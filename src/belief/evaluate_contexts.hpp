#pragma once

#include "belief/packs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goblin {

/// Whether a term that waits is one that N loses, in the flags of all that wait.
[[nodiscard]] inline bool is_loss(std::uint32_t losses, std::size_t term) { return ((losses >> term) & 1U) != 0; }
/// What v v^T counts for in what N^{-1} loses.
[[nodiscard]] inline double sign_of(std::uint32_t losses, std::size_t term) {
  return is_loss(losses, term) ? -1.0 : 1.0;
}

/// Rank-one terms that a matrix does not contain yet: C = stored - sum of sign v v^T, v of d numbers each.
struct PendingTerms {
  const double* first = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
  std::uint32_t losses = 0;  // a bit for each, from the lowest: its sign is -1
};

/// x.w and x^T C x for each context x, C given by its lower triangle: column(c)[r] is the entry (r, c), r >= c, without
/// `missing` at the diagonal.
/// d^2 / 2 + d * pending.count multiplications a context, eight contexts at a time.
template <typename Column>
void evaluate_contexts(std::size_t dimension, const double* mean, Column column, PendingTerms pending,
                       std::span<const double> contexts, std::span<double> means, std::span<double> variances,
                       double missing = 0.0) {
  constexpr std::size_t on_the_stack = 128;
  std::array<double, on_the_stack * lane_count> small;
  std::vector<double> large(dimension > on_the_stack ? dimension * lane_count : 0);
  Lanes* x = reinterpret_cast<Lanes*>(large.empty() ? small.data() : large.data());
  for (std::size_t first = 0; first < means.size(); first += lane_count) {
    const std::size_t used = std::min(lane_count, means.size() - first);
    const double* from = contexts.data() + first * dimension;
    for (std::size_t row = 0; row < dimension; ++row) {
      Lanes values{};
      for (std::size_t lane = 0; lane < used; ++lane) values[lane] = from[lane * dimension + row];
      x[row] = values;
    }
    Lanes mean_sum{};
    Lanes variance{};
    for (std::size_t c = 0; c < dimension; ++c) {
      const double* entries = column(c);
      Lanes even = 0.5 * (entries[c] + missing) * x[c];
      Lanes odd{};
      std::size_t r = c + 1;
      for (; r + 1 < dimension; r += 2) {
        even += entries[r] * x[r];
        odd += entries[r + 1] * x[r + 1];
      }
      if (r < dimension) even += entries[r] * x[r];
      variance += 2.0 * x[c] * (even + odd);
      mean_sum += mean[c] * x[c];
    }
    for (std::size_t k = 0; k < pending.count; ++k) {
      const double* term = pending.first + k * pending.stride;
      Lanes even{};
      Lanes odd{};
      std::size_t r = 0;
      for (; r + 1 < dimension; r += 2) {
        even += term[r] * x[r];
        odd += term[r + 1] * x[r + 1];
      }
      if (r < dimension) even += term[r] * x[r];
      variance -= sign_of(pending.losses, k) * (even + odd) * (even + odd);
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      means[first + lane] = mean_sum[lane];
      variances[first + lane] = std::max(0.0, variance[lane]);
    }
  }
}

}  // namespace goblin
