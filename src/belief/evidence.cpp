#include "belief/evidence.hpp"

#include "belief/byte_count.hpp"
#include "binary.hpp"

#include <algorithm>
#include <utility>

namespace goblin {
namespace {

/// sum + rest gains a value, and rest what rounding left out: twice as many digits as one number has.
inline void add_to(double& sum, double& rest, double value) {
  const double total = sum + value;
  const double of_value = total - sum;
  rest += (sum - (total - of_value)) + (value - of_value);
  sum = total + rest;
  rest -= sum - total;
}

}  // namespace

void Evidence::expect(std::size_t place) {
  if (sums_at_[place] != none) return;
  sums_.emplace_back();
  sums_at_[place] = static_cast<std::uint32_t>(sums_.size() - 1);
}

Evidence::Sums& Evidence::sums(std::size_t place) {
  expect(place);
  Sums& sums = sums_[sums_at_[place]];
  if (sums.numbers.empty()) sums.numbers.resize(numbers_of_a_place());
  return sums;
}

void Evidence::add(std::size_t place, std::span<const double> context, double reward) {
  add(sums(place), context, reward);
}

void Evidence::add(Sums& sums, std::span<const double> context, double reward) const {
  if (takes_away_) {
    add_exactly(sums, context, reward, 1.0);
    ++sums.count;
    return;
  }
  double* out = sums.numbers.data();
  for (std::size_t column = 0; column < dimension_; ++column) {
    if (context[column] == 0.0) {  // hashed contexts are mostly zero
      out += dimension_ - column;
      continue;
    }
    for (std::size_t row = column; row < dimension_; ++row) *out++ += context[column] * context[row];
  }
  for (std::size_t row = 0; row < dimension_; ++row) *out++ += reward * context[row];
  ++sums.count;
  sums.squared_rewards += reward * reward;
}

void Evidence::add(std::size_t place, const UserEvidence& other) {
  if (other.count == 0) return;
  Sums& sums = this->sums(place);
  if (takes_away_) {
    add_exactly(sums, other, 1.0);
    sums.count += other.count;
    return;
  }
  for (std::size_t k = 0; k < packed_size(); ++k) sums.numbers[k] += other.contexts[k];
  for (std::size_t k = 0; k < dimension_; ++k) sums.numbers[packed_size() + k] += other.rewards[k];
  sums.count += other.count;
  sums.squared_rewards += other.squared_rewards;
}

void Evidence::add(std::size_t place, const Evidence& other, std::size_t other_place) {
  const UserEvidence sums = other.at(other_place);
  add(place, sums);
  if (sums.count == 0 || !takes_away_ || !other.takes_away_) return;
  Sums& to = this->sums(place);
  const Sums& from = other.sums_[other.sums_at_[other_place]];
  for (std::size_t k = 0; k < sum_count(); ++k) {
    add_to(to.numbers[k], to.numbers[sum_count() + k], from.numbers[sum_count() + k]);
  }
  add_to(to.squared_rewards, to.squared_rest, from.squared_rest);
}

/// The same products as were added, so that they cancel.
void Evidence::add_exactly(Sums& sums, std::span<const double> context, double reward, double sign) const {
  double* sum = sums.numbers.data();
  double* rest = sum + sum_count();
  for (std::size_t column = 0; column < dimension_; ++column) {
    const double factor = sign * context[column];
    for (std::size_t row = column; row < dimension_; ++row) add_to(*sum++, *rest++, factor * context[row]);
  }
  for (std::size_t row = 0; row < dimension_; ++row) add_to(*sum++, *rest++, sign * reward * context[row]);
  add_to(sums.squared_rewards, sums.squared_rest, sign * reward * reward);
}

void Evidence::add_exactly(Sums& sums, const UserEvidence& other, double sign) const {
  double* sum = sums.numbers.data();
  double* rest = sum + sum_count();
  for (const auto& values : {other.contexts, other.rewards}) {
    for (const double value : values) add_to(*sum++, *rest++, sign * value);
  }
  add_to(sums.squared_rewards, sums.squared_rest, sign * other.squared_rewards);
}

void Evidence::take_away(std::size_t place, std::span<const double> context, double reward) {
  Sums& sums = this->sums(place);
  if (sums.count == 1) return clear(place);
  add_exactly(sums, context, reward, -1.0);
  --sums.count;
}

void Evidence::take_away(std::size_t place, const UserEvidence& other) {
  if (other.count == 0) return;
  Sums& sums = this->sums(place);
  if (sums.count == other.count) return clear(place);
  add_exactly(sums, other, -1.0);
  sums.count -= other.count;
}

void Evidence::scale(std::size_t place, double factor) {
  if (sums_at_[place] == none) return;
  Sums& sums = sums_[sums_at_[place]];
  for (double& value : sums.numbers) value *= factor;
  sums.squared_rewards *= factor;
}

void Evidence::clear(std::size_t place) {
  if (sums_at_[place] == none) return;
  Sums& sums = sums_[sums_at_[place]];
  sums.count = 0;
  sums.squared_rewards = 0.0;
  sums.squared_rest = 0.0;
  std::fill(sums.numbers.begin(), sums.numbers.end(), 0.0);
}

Evidence::Before Evidence::before(std::size_t place) const {
  Before result;
  result.place_ = place;
  if (at(place).count > 0) result.sums_ = sums_[sums_at_[place]];
  return result;
}

void Evidence::put_back(Before& before) {
  if (before.sums_.count == 0) return clear(before.place_);
  std::swap(sums_[sums_at_[before.place_]], before.sums_);
}

UserEvidence Evidence::at(std::size_t place) const {
  if (sums_at_[place] == none || sums_[sums_at_[place]].count == 0) return {};
  return seen(sums_[sums_at_[place]]);
}

UserEvidence Evidence::with(std::size_t place, std::span<const NodeReward> rewards) const {
  if (rewards.empty()) return at(place);
  thread_local Sums together;
  if (at(place).count > 0) {
    together = sums_[sums_at_[place]];
  } else {
    together.count = 0;
    together.squared_rewards = together.squared_rest = 0.0;
    together.numbers.assign(numbers_of_a_place(), 0.0);
  }
  for (const NodeReward& one : rewards) add(together, {one.context, dimension_}, one.reward);
  return seen(together);
}

UserEvidence Evidence::seen(const Sums& sums) const {
  const auto numbers = std::span(sums.numbers);
  return {.contexts = numbers.first(packed_size()),
          .rewards = numbers.subspan(packed_size(), dimension_),
          .count = sums.count,
          .squared_rewards = sums.squared_rewards};
}

std::size_t Evidence::bytes() const {
  return sums_at_.capacity() * sizeof(std::uint32_t) + sums_.capacity() * sizeof(Sums) +
         sums_.size() * numbers_of_a_place() * sizeof(double);
}

std::size_t Evidence::bytes(std::size_t dimension, std::size_t places, bool takes_away) {
  // The list of sums may be twice as long as it needs to be.
  const auto d = static_cast<double>(dimension);
  const double numbers = (takes_away ? 2.0 : 1.0) * d * (d + 3.0) / 2.0;
  return byte_count(static_cast<double>(places) *
                    (sizeof(std::uint32_t) + 2.0 * sizeof(Sums) + numbers * sizeof(double)));
}

void Evidence::save(BinaryWriter& out) const {
  out.size(dimension_);
  out.size(size());
  for (std::size_t place = 0; place < size(); ++place) {
    const UserEvidence sums = at(place);
    out.size(sums.count);
    if (sums.count == 0) continue;
    out.number(sums.squared_rewards);
    out.array(sums.contexts);
    out.array(sums.rewards);
    if (!takes_away_) continue;
    const Sums& whole = sums_[sums_at_[place]];
    out.array(std::span(whole.numbers).subspan(sum_count()));
    out.number(whole.squared_rest);
  }
}

Evidence Evidence::load(BinaryReader& in, bool takes_away) {
  const std::size_t dimension = in.size(std::size_t{1} << 24, "the dimension of the evidence");
  const std::size_t places = in.size(in.left() / sizeof(std::uint64_t), "the number of places with evidence");
  Evidence evidence(dimension, places, takes_away);
  for (std::size_t place = 0; place < places; ++place) {
    const std::size_t count = in.size();
    if (count == 0) continue;
    const double squared_rewards = in.number<double>();
    const auto contexts = in.array<double>(evidence.packed_size(), "the sum of contexts");
    const auto rewards = in.array<double>(dimension, "the sum of rewards");
    evidence.add(place, {.contexts = contexts, .rewards = rewards, .count = count, .squared_rewards = squared_rewards});
    if (!takes_away) continue;
    Sums& sums = evidence.sums(place);
    const auto rest = in.array<double>(evidence.sum_count(), "what rounding left out of a sum");
    std::copy(rest.begin(), rest.end(), sums.numbers.begin() + static_cast<std::ptrdiff_t>(evidence.sum_count()));
    sums.squared_rest = in.number<double>();
  }
  return evidence;
}

}  // namespace goblin
