#include "offline/gains.hpp"

#include "goblin/random.hpp"
#include "offline/tail.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace goblin::offline {
namespace {

constexpr std::size_t fewest_users = 10;
constexpr std::size_t fewest_rewards = 100;
/// A gain that is smaller than this share of what can be predicted at all is not worth a graph.
constexpr double worth = 0.1;

/// "0.0123 smaller a reward (95 %: 0.01 to 0.015 smaller)"
std::string words_of(const Gain& gain) {
  const std::string interval =
      std::isnan(gain.low) ? "" : fmt::format(" (95 %: {:.3g} to {:.3g} smaller)", gain.low, gain.high);
  return fmt::format("{:.3g} {} a reward{}", std::abs(gain.mean), gain.mean >= 0.0 ? "smaller" : "larger", interval);
}

std::string sentence_of(const Comparison& comparison, const TuneResult& result, std::size_t beaten) {
  if (comparison.rival != "rewired") {
    return fmt::format("The squared error of gob.lin is {} than that of {}.", words_of(comparison.gain),
                       comparison.rival);
  }
  return fmt::format(
      "It is {} than with graphs that have the same degrees and other edges; the graph beats {} of these {}.",
      words_of(comparison.gain), beaten, result.rewirings.size());
}

/// What to call a rival in a sentence.
std::string called(const Comparison& comparison) {
  if (comparison.rival == "linucb-ind") return "a bandit for each user alone (linucb-ind)";
  if (comparison.rival == "linucb-sin") return "one bandit for everybody (linucb-sin)";
  return "the same bandit with the edges rewired";
}

}  // namespace

UserErrors::UserErrors(std::span<const NodeId> users_of_rewards, std::size_t user_count)
    : all_rewards(static_cast<double>(users_of_rewards.size())), place_(user_count) {
  std::vector<std::size_t> counts(user_count);
  for (const NodeId user : users_of_rewards) ++counts[user];
  for (NodeId user = 0; user < user_count; ++user) {
    if (counts[user] == 0) continue;
    place_[user] = users.size();
    users.push_back(user);
    rewards.push_back(static_cast<double>(counts[user]));
  }
}

std::vector<double> UserErrors::squared(const RewardTable& table, std::span<const double> predictions) const {
  std::vector<double> sums(users.size());
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const double error = table.rewards[row] - predictions[row];
    sums[place_[table.users[row]]] += error * error;
  }
  return sums;
}

Bootstrap::Bootstrap(std::span<const std::vector<double>> columns, std::span<const double> rewards,
                     std::size_t resamples, std::uint64_t seed)
    : columns_(columns.size()),
      users_(rewards.size()),
      seed_(seed),
      whole_(columns.size()),
      totals_(columns.size() * resamples) {
  const std::size_t users = users_;
  double all = 0.0;
  for (std::size_t user = 0; user < users; ++user) {
    all += rewards[user];
    for (std::size_t column = 0; column < columns_; ++column) whole_[column] += columns[column][user];
  }
  for (double& whole : whole_) whole /= all;
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    Random random(seed, 0, resample);
    double count = 0.0;
    double* const totals = totals_.data() + resample * columns_;
    for (std::size_t draw = 0; draw < users; ++draw) {
      const std::size_t user = random.below(users);
      count += rewards[user];
      for (std::size_t column = 0; column < columns_; ++column) totals[column] += columns[column][user];
    }
    for (std::size_t column = 0; column < columns_; ++column) totals[column] /= count;
  }
}

Gain Bootstrap::interval(double mean, std::vector<double> values) const {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  if (users_ < 2) return {mean, nothing, nothing};
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  const auto quantile = [&](double share) { return values[static_cast<std::size_t>(std::lround(share * last))]; };
  const double tail = tail_of(0.95, users_);
  return {mean, quantile(tail), quantile(1.0 - tail)};
}

Gain Bootstrap::of(std::size_t column) const { return of_mean(column, column + 1); }

Gain Bootstrap::of_mean(std::size_t first, std::size_t end) const {
  const std::size_t count = end - first;
  std::vector<double> values;
  for (std::size_t resample = 0; resample * columns_ < totals_.size(); ++resample) {
    Random random(seed_, 1, resample);
    double total = 0.0;
    for (std::size_t draw = 0; draw < count; ++draw) {
      total += totals_[resample * columns_ + first + random.below(count)];
    }
    values.push_back(total / static_cast<double>(count));
  }
  double mean = 0.0;
  for (std::size_t column = first; column < end; ++column) mean += whole_[column] / static_cast<double>(count);
  return interval(mean, std::move(values));
}

std::vector<GroupGain> gains_of(const Grouping& grouping, const UserErrors& users, std::span<const double> gains,
                                std::size_t resamples, std::uint64_t seed) {
  std::vector<GroupGain> result;
  std::vector<std::vector<std::size_t>> members(grouping.labels.size());
  for (std::size_t place = 0; place < users.users.size(); ++place) members[grouping.label_of[place]].push_back(place);
  for (std::size_t label = 0; label < members.size(); ++label) {
    if (members[label].empty()) continue;
    std::vector<double> rewards;
    std::vector<std::vector<double>> column(1);
    for (const std::size_t place : members[label]) {
      rewards.push_back(users.rewards[place]);
      column[0].push_back(gains[place]);
    }
    GroupGain group{.group = grouping.labels[label], .users = rewards.size(), .rewards = 0, .gain = {}};
    for (const double count : rewards) group.rewards += static_cast<std::size_t>(count);
    group.gain = Bootstrap(column, rewards, resamples, seed).of(0);
    result.push_back(std::move(group));
  }
  return result;
}

Grouping by_size(std::span<const double> sizes, std::string_view unit) {
  constexpr std::array<std::size_t, 9> ends = {0, 1, 2, 5, 10, 20, 50, 100, 1000};
  Grouping grouping;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const std::size_t first = k == 0 ? 0 : ends[k - 1] + 1;
    const std::string range = first == ends[k] ? fmt::format("{}", first) : fmt::format("{} to {}", first, ends[k]);
    grouping.labels.push_back(fmt::format("{} {}{}", range, unit, ends[k] == 1 ? "" : "s"));
  }
  grouping.labels.push_back(fmt::format("more than {} {}s", ends.back(), unit));
  for (const double size : sizes) {
    const auto whole = static_cast<std::size_t>(size);
    grouping.label_of.push_back(static_cast<NodeId>(std::lower_bound(ends.begin(), ends.end(), whole) - ends.begin()));
  }
  return grouping;
}

void judge(TuneResult& result, const Gain& learned, std::size_t rewirings_beaten) {
  const auto answer = [&](GraphHelps helps, std::string sentence) {
    result.graph_helps = helps;
    result.reasons.insert(result.reasons.begin(), std::move(sentence));
  };
  if (result.edges == 0) {
    return answer(GraphHelps::not_decided, "The graph has no edges, so the question was not asked.");
  }
  for (const Comparison& comparison : result.comparisons) {
    result.reasons.push_back(sentence_of(comparison, result, rewirings_beaten));
  }
  const bool has_rewired = !result.rewirings.empty();
  if (!has_rewired) {
    result.reasons.emplace_back("There is no graph with the same degrees and other edges to compare with.");
  }
  if (result.users_with_rewards < fewest_users) {
    return answer(
        GraphHelps::not_decided,
        fmt::format("Only {} user{} rewards, too few to tell chance from a gain (at least {}).",
                    result.users_with_rewards, result.users_with_rewards == 1 ? " has" : "s have", fewest_users));
  }
  if (result.rewards < fewest_rewards) {
    return answer(GraphHelps::not_decided,
                  fmt::format("Only {} rewards, too few to tell chance from a gain (at least {}).", result.rewards,
                              fewest_rewards));
  }
  const bool all = std::all_of(result.comparisons.begin(), result.comparisons.end(),
                               [](const Comparison& each) { return each.gain.low > 0.0; });
  if (all && has_rewired) {
    return answer(GraphHelps::yes,
                  "The graph helps: gob.lin predicts better than a bandit for each user, than one for everybody and "
                  "than the same bandit with the edges rewired.");
  }
  const double enough = worth * learned.mean;
  const auto useless = std::find_if(result.comparisons.begin(), result.comparisons.end(),
                                    [&](const Comparison& each) { return each.gain.high < enough; });
  if (learned.low > 0.0 && useless != result.comparisons.end()) {
    return answer(GraphHelps::no, fmt::format("The graph does not help: gob.lin does not predict better than {}, or by "
                                              "less than a tenth of what can be predicted.",
                                              called(*useless)));
  }
  if (!(learned.low > 0.0)) {
    return answer(GraphHelps::not_decided,
                  "Not decided: no policy predicts better than a constant yet, so there is nothing to compare.");
  }
  const auto open = std::find_if(result.comparisons.begin(), result.comparisons.end(),
                                 [](const Comparison& each) { return !(each.gain.low > 0.0); });
  answer(GraphHelps::not_decided,
         open == result.comparisons.end()
             ? std::string("Not decided: gob.lin predicts better, but there is no rewired graph to compare with.")
             : fmt::format("Not decided: whether gob.lin predicts better than {} cannot be told from this log; the "
                           "interval has 0 in it, and gains worth having.",
                           called(*open)));
}

}  // namespace goblin::offline
