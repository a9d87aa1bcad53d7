#pragma once

#include "goblin/experiment/paper.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::report {

enum class Verdict { holds, does_not_hold, not_decided };

[[nodiscard]] std::string_view name_of(Verdict verdict);  // "holds", "does not hold", "not decided"

/// Something that is above 0 if the claim is right: one number for each evaluation seed, of which both sides met the
/// same rounds.
struct Difference {
  std::string label;
  std::vector<double> by_seed;
  experiment::Estimate estimate;
  /// The mean lies between these: Student's t at the claim's level.
  double low = 0.0;
  double high = 0.0;
  Verdict verdict = Verdict::not_decided;
};

/// Something that the paper says, in our words, and what the data say to it. It holds if every difference is above 0,
/// and does not if one is below. The intervals of a claim with k differences are those of level 1 - 0.05 / k, so that
/// all of them hold together with 95 %.
struct Claim {
  std::string id;
  std::string part;  ///< "4cliques", "lastfm", "delicious", "theorem"
  std::string text;
  std::string unit;  ///< of the differences
  std::vector<Difference> differences;
  /// The paper says "tends to".
  bool tendency = false;
  Verdict verdict = Verdict::not_decided;

  /// The difference that the verdict hangs on: of those with the worst verdict, the one with the lowest mean, counted
  /// in standard errors.
  [[nodiscard]] const Difference& weakest() const;
};

/// The verdict in words: that of a tendency is "tends to", "does not tend to" or "not decided".
[[nodiscard]] std::string_view verdict_of(const Claim& claim);

/// How many seeds would decide a difference that is not decided, one of so many that are judged together: about so many
/// if it is as large as it looks and other seeds scatter as these do. Nothing if it is smaller than its standard error,
/// because then its size is not known.
[[nodiscard]] std::optional<std::size_t> seeds_to_decide(const Difference& difference, std::size_t together);

/// Judges differences given by label and by seed: at least one, at least two seeds each.
void judge(Claim& claim);

enum class Choice {
  tuned,      ///< settings chosen on the tuning seeds
  hindsight,  ///< settings chosen on the evaluation seeds themselves, as the paper does
};

/// All claims that the results can speak to, as the paper words them (docs/reproduction.md has the paper's words);
/// those about the data sets in the reading of the full study.
[[nodiscard]] std::vector<Claim> judge_claims(const experiment::paper::Results& results, Choice choice);

/// What becomes of the claims about the data sets in one reading of the preprocessing.
struct ReadingClaims {
  std::string name;
  std::vector<Claim> claims;
};

/// Every reading, that of the full study first. Settings are those chosen on the tuning seeds.
[[nodiscard]] std::vector<ReadingClaims> judge_readings(const experiment::paper::Results& results);

/// A claim in all readings: holds in every reading, in some, or in none.
enum class Spread { every, some, none };

[[nodiscard]] Spread spread_of(const std::vector<ReadingClaims>& readings, std::string_view claim);

}  // namespace goblin::report
