#pragma once

#include "goblin/report/rivals.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What the page and the Markdown of the rivals share.
namespace goblin::report {

/// A contender in a world, in words and numbers.
struct RivalRow {
  std::string contender;
  std::string setting;
  std::string reward;      ///< "2,955 ± 9.4", with half the width of the 95 % interval
  std::string difference;  ///< to gob.lin: "-641 (-680 to -602)"; a dash for gob.lin itself
  Verdict verdict = Verdict::not_decided;
  bool is_reference = false;
  bool is_best = false;
  std::string milliseconds;
  std::string megabytes;
};

/// In the order of the contenders.
[[nodiscard]] std::vector<RivalRow> rows_of(const experiment::StudyResult& result, const Claim& comparison);

/// The difference of a contender in a world; nullptr for gob.lin.
[[nodiscard]] const Difference* difference_of(const Claim& comparison, std::string_view contender);

/// "-641 (-680 to -602)"
[[nodiscard]] std::string words_of(const Difference& difference);

/// Of the contender in every figure and table: its policy's where it has the policy's name, else one of its own within
/// its question.
[[nodiscard]] std::string colour_in(const experiment::rivals::Results& results, std::string_view contender);

/// What changes in the world that drifts, and its noise: sentences, without markup.
[[nodiscard]] std::string about_drift();

/// How many settings, seeds and rounds, and how the settings were chosen: sentences, without markup.
[[nodiscard]] std::string how_it_was_tuned(const experiment::rivals::Results& results);

}  // namespace goblin::report
