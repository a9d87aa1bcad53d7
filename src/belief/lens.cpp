#include "belief/lens.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace goblin {

Lens Lens::hashing(std::size_t dimension, std::size_t buckets, std::uint64_t seed, NodeId user) {
  Lens lens(dimension, 1.0);
  lens.node_dimension_ = buckets;
  lens.terms_.resize(dimension);
  // Everybody together counts as one more user, the first. Model files rely on these numbers.
  const std::array<std::uint64_t, 2> keys = {scrambled(scrambled(seed)),
                                             scrambled(scrambled(seed) + std::uint64_t{user} + 1)};
  for (std::size_t k = 0; k < dimension; ++k) {
    for (std::size_t whose = 0; whose < 2; ++whose) {
      const std::uint64_t hash = scrambled(keys[whose] + k);
      const std::uint64_t bucket = ((hash >> 32) * buckets) >> 32;
      lens.terms_[k][whose] = {
          .bucket = static_cast<std::uint32_t>(bucket), .at = 0, .sign = (hash & 1) == 0 ? 1.0 : -1.0};
      lens.places_.push_back(static_cast<std::uint32_t>(bucket));
    }
  }
  auto& places = lens.places_;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  // |P|^2 is at most the largest sum of a column times that of a row, signs left out. Columns have two entries.
  std::vector<std::size_t> load(places.size(), 0);
  for (auto& both : lens.terms_) {
    for (Term& term : both) {
      const auto place = std::lower_bound(places.begin(), places.end(), term.bucket);
      term.at = static_cast<std::uint32_t>(place - places.begin());
      ++load[term.at];
    }
  }
  lens.stretch_ = std::sqrt(2.0 * static_cast<double>(*std::max_element(load.begin(), load.end())));
  return lens;
}

void Lens::to_node(std::span<const double> context, std::span<double> out) const {
  if (!hashes()) {
    for (std::size_t k = 0; k < dimension_; ++k) out[k] = factor_ * context[k];
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t k = 0; k < dimension_; ++k) {
    for (const Term& term : terms(k)) out[term.bucket] += term.sign * context[k];
  }
}

Lens::Sums Lens::to_node(const UserEvidence& evidence) const {
  Sums sums{.contexts = {}, .rewards = {}, .count = evidence.count, .squared_rewards = evidence.squared_rewards};
  if (evidence.count == 0) return sums;
  sums.rewards.resize(node_dimension_);
  to_node(evidence.rewards, sums.rewards);
  if (!hashes()) {
    sums.contexts.reserve(evidence.contexts.size());
    for (const double value : evidence.contexts) sums.contexts.push_back(factor_ * factor_ * value);
    return sums;
  }
  sums.contexts.resize(node_dimension_ * (node_dimension_ + 1) / 2, 0.0);
  const auto add = [&](const Term& a, const Term& b, double value) {
    const std::size_t column = std::min(a.bucket, b.bucket);
    const std::size_t row = std::max(a.bucket, b.bucket);
    // The columns before it have node_dimension, node_dimension - 1, ... numbers.
    sums.contexts[column * (2 * node_dimension_ - column + 1) / 2 + row - column] += a.sign * b.sign * value;
  };
  const double* entry = evidence.contexts.data();
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r, ++entry) {
      for (const Term& a : terms(c)) {
        for (const Term& b : terms(r)) {
          // Of two entries that mirror each other the one above the diagonal is left out. For (c, r) and (r, c) that
          // is so but on the diagonal itself, where both count.
          if (c == r && a.bucket < b.bucket) continue;
          add(a, b, c != r && a.bucket == b.bucket ? 2.0 * *entry : *entry);
        }
      }
    }
  }
  return sums;
}

void Lens::to_user(std::span<const double> vector, std::span<double> out) const {
  if (!hashes()) {
    for (std::size_t k = 0; k < dimension_; ++k) out[k] = factor_ * vector[k];
    return;
  }
  for (std::size_t k = 0; k < dimension_; ++k) {
    const auto& [a, b] = terms(k);
    out[k] = a.sign * vector[a.bucket] + b.sign * vector[b.bucket];
  }
}

void Lens::gathered_to_user(std::span<const double> vector, std::span<const double> matrix, std::span<double> mean,
                            std::span<double> covariance) const {
  const std::size_t rows = places_.size();
  for (std::size_t c = 0; c < dimension_; ++c) {
    const auto& [a, b] = terms(c);
    mean[c] = a.sign * vector[a.at] + b.sign * vector[b.at];
    for (std::size_t r = c; r < dimension_; ++r) {
      const auto& [e, f] = terms(r);
      const double value = e.sign * (a.sign * matrix[a.at * rows + e.at] + b.sign * matrix[b.at * rows + e.at]) +
                           f.sign * (a.sign * matrix[a.at * rows + f.at] + b.sign * matrix[b.at * rows + f.at]);
      covariance[c * dimension_ + r] = covariance[r * dimension_ + c] = value;
    }
  }
}

Lenses Lenses::scaling(std::size_t dimension, std::vector<double> factors) {
  Lenses lenses(dimension);
  lenses.scale_ = true;
  lenses.factors_ = std::move(factors);
  return lenses;
}

Lenses Lenses::hashing(std::size_t dimension, std::size_t buckets, std::uint64_t seed) {
  Lenses lenses(dimension);
  lenses.buckets_ = buckets;
  lenses.seed_ = seed;
  return lenses;
}

}  // namespace goblin
