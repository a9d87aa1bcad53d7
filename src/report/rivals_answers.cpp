#include "goblin/report/rivals.hpp"
#include "joined.hpp"
#include "report/figure_parts.hpp"
#include "report/page_parts.hpp"
#include "report/rivals_parts.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::Entry;
using experiment::StudyResult;
using experiment::rivals::Question;
using experiment::rivals::reference;
using experiment::rivals::Results;

/// "9 of the 12 of 4Cliques, Last.fm and Delicious": the worlds at these places of Results::all.
std::string list_worlds(const Results& results, const std::vector<std::size_t>& places) {
  std::vector<std::string> names;
  const auto in_grid = static_cast<std::size_t>(
      std::ranges::count_if(places, [&results](std::size_t place) { return place < results.grid.size(); }));
  if (in_grid > 0) {
    names.push_back(results.grid.size() == 1 ? std::string("4Cliques")
                    : in_grid == results.grid.size()
                        ? fmt::format("all {} of 4Cliques", in_grid)
                        : fmt::format("{} of the {} of 4Cliques", in_grid, results.grid.size()));
  }
  for (const std::size_t place : places) {
    if (place >= results.grid.size()) names.push_back(results.others[place - results.grid.size()].study.title);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return joined(views, "and");
}

/// "in 3 of 15 worlds (...)"
std::string in_worlds(const Results& results, const std::vector<std::size_t>& places) {
  const std::size_t all = results.grid.size() + results.others.size();
  return fmt::format("in {} of {} worlds ({})", places.size(), all, list_worlds(results, places));
}

/// How many seeds would decide what is not decided in these worlds, as far as the differences say.
std::string about_seeds(const std::vector<Claim>& comparisons, const std::vector<std::size_t>& places,
                        const std::string& contender) {
  std::vector<std::size_t> seeds;
  for (const std::size_t place : places) {
    const Difference& difference = *difference_of(comparisons[place], contender);
    if (const auto needed = seeds_to_decide(difference, comparisons[place].differences.size())) {
      seeds.push_back(*needed);
    }
  }
  if (seeds.empty()) {
    return " There the difference is not larger than its standard error, so it cannot be told how many seeds would "
           "decide.";
  }
  const auto [least, most] = std::ranges::minmax(seeds);
  std::string text = fmt::format(" A difference as large as it looks there would take about {}{} seeds", least,
                                 least == most ? std::string() : fmt::format(" to {}", most));
  const std::size_t unknown = places.size() - seeds.size();
  if (unknown > 0) {
    text += fmt::format(
        "; in {} of these worlds it is not larger than its standard error, and the number cannot be told", unknown);
  }
  return text + ".";
}

/// Where the contender is ahead, behind, and neither.
std::string about_one(const Results& results, const std::vector<Claim>& comparisons, const std::string& contender) {
  std::vector<std::size_t> ahead;
  std::vector<std::size_t> behind;
  std::vector<std::size_t> open;
  for (std::size_t place = 0; place < comparisons.size(); ++place) {
    const Verdict verdict = difference_of(comparisons[place], contender)->verdict;
    (verdict == Verdict::holds ? ahead : verdict == Verdict::does_not_hold ? behind : open).push_back(place);
  }
  std::string text;
  if (ahead.empty() && behind.empty()) {
    text = fmt::format("Whether {} earns more or less than {} is not decided in any of the {} worlds.", contender,
                       reference, open.size());
  } else {
    std::vector<std::string> parts;
    if (!ahead.empty()) parts.push_back(fmt::format("more than {} {}", reference, in_worlds(results, ahead)));
    if (!behind.empty()) parts.push_back(fmt::format("less than {} {}", reference, in_worlds(results, behind)));
    text = fmt::format("{} earns {}.", contender,
                       joined(std::vector<std::string_view>(parts.begin(), parts.end()), "and"));
    if (!open.empty()) text += fmt::format(" It is not decided {}.", in_worlds(results, open));
  }
  if (!open.empty()) text += about_seeds(comparisons, open, contender);
  return text;
}

/// Where gob.lin is ahead of all who answer the question, where one of them is ahead of it, and by how much, and where
/// neither is decided.
std::string about_all(const Results& results, const std::vector<Claim>& comparisons, const Question& question) {
  std::vector<std::size_t> reference_ahead;
  std::vector<std::size_t> rival_ahead;
  std::vector<std::size_t> open;
  std::string leaders;
  bool any_decided = false;
  for (std::size_t place = 0; place < comparisons.size(); ++place) {
    const Difference* best = nullptr;
    bool all_behind = true;
    for (const std::string& contender : question.contenders) {
      const Difference* each = difference_of(comparisons[place], contender);
      all_behind = all_behind && each->verdict == Verdict::does_not_hold;
      any_decided = any_decided || each->verdict != Verdict::not_decided;
      if (each->verdict == Verdict::holds && (best == nullptr || each->estimate.mean > best->estimate.mean))
        best = each;
    }
    (all_behind ? reference_ahead : best != nullptr ? rival_ahead : open).push_back(place);
    if (best != nullptr && place >= results.grid.size()) {
      leaders += fmt::format(" On {}, {} leads by {}.", results.others[place - results.grid.size()].study.title,
                             best->label, words_of(*best));
    }
  }
  if (question.contenders.size() == 1) return about_one(results, comparisons, question.contenders.front()) + leaders;
  const std::string rivals =
      joined(std::vector<std::string_view>(question.contenders.begin(), question.contenders.end()), "and");
  if (!any_decided) {
    return fmt::format("Nothing is decided: in none of the {} worlds do {} seeds tell {} from {}.", comparisons.size(),
                       results.all().front()->study.evaluation_seeds.size(), reference, rivals);
  }
  std::string text;
  if (!reference_ahead.empty()) {
    text += fmt::format(" {} earns more than each of {} {}.", reference, rivals, in_worlds(results, reference_ahead));
  }
  if (!rival_ahead.empty()) {
    text +=
        fmt::format(" At least one of {} earns more than {} {}.", rivals, reference, in_worlds(results, rival_ahead));
  }
  text += leaders;
  if (!open.empty()) {
    text += fmt::format(" Whether one of {} earns more than {} is not decided {}.", rivals, reference,
                        in_worlds(results, open));
  }
  return text.substr(1);
}

}  // namespace

std::vector<Claim> compare_rivals(const Results& results) {
  std::vector<Claim> comparisons;
  for (const StudyResult* result : results.all()) {
    Claim claim{.id = result->study.name,
                .part = result->study.name,
                .text = fmt::format("Contenders against {}: {}", reference, result->study.title),
                .unit = "normalized reward",
                .differences = {}};
    const auto expected = final_rewards(result->entry(reference).tuned());
    for (const Entry& entry : result->entries) {
      if (entry.name == reference) continue;
      auto by_seed = final_rewards(entry.tuned());
      for (std::size_t k = 0; k < by_seed.size(); ++k) by_seed[k] -= expected[k];
      claim.differences.push_back({.label = entry.name, .by_seed = std::move(by_seed), .estimate = {}});
    }
    judge(claim);
    comparisons.push_back(std::move(claim));
  }
  return comparisons;
}

std::string_view standing_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "ahead";
    case Verdict::does_not_hold:
      return "behind";
    case Verdict::not_decided:
      break;
  }
  return "not decided";
}

std::vector<Answer> answers_of(const Results& results, const std::vector<Claim>& comparisons) {
  std::vector<Answer> answers;
  for (const Question& question : results.plan.questions) {
    Answer answer{.question = question.text, .together = about_all(results, comparisons, question), .each = {}};
    for (const std::string& contender : question.contenders) {
      answer.each.push_back(about_one(results, comparisons, contender));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::string rivals_answers(const RivalsReport& report) {
  std::string text;
  for (const Answer& answer : answers_of(report.results, report.comparisons)) {
    append(text, "{}\n  {}\n", answer.question, answer.together);
  }
  return text;
}

const Difference* difference_of(const Claim& comparison, std::string_view contender) {
  for (const Difference& each : comparison.differences) {
    if (each.label == contender) return &each;
  }
  return nullptr;
}

std::string words_of(const Difference& difference) {
  return fmt::format("{} ({} to {})", number(difference.estimate.mean), number(difference.low),
                     number(difference.high));
}

std::vector<RivalRow> rows_of(const StudyResult& result, const Claim& comparison) {
  double best = -1e300;
  for (const Entry& entry : result.entries) best = std::max(best, entry.tuned().estimate().mean);
  std::vector<RivalRow> rows;
  for (const Entry& entry : result.entries) {
    const auto& tuned = entry.tuned();
    const auto estimate = tuned.estimate();
    const double margin = margin_of(tuned.outcomes.size()) * estimate.standard_error.value_or(0.0);
    const Difference* difference = difference_of(comparison, entry.name);
    rows.push_back({.contender = entry.name,
                    .setting = words_of(tuned.setting),
                    .reward = fmt::format("{} ± {}", number(estimate.mean), number(margin)),
                    .difference = difference != nullptr ? words_of(*difference) : "–",
                    .verdict = difference != nullptr ? difference->verdict : Verdict::not_decided,
                    .is_reference = difference == nullptr,
                    .is_best = estimate.mean == best,
                    .milliseconds = milliseconds(tuned),
                    .megabytes = megabytes(tuned)});
  }
  return rows;
}

std::string colour_in(const Results& results, std::string_view contender) {
  constexpr std::array<std::string_view, 5> others = {"#ad1457", "#7a9a01", "#ef8e00", "#455a64", "#5e35b1"};
  for (const PolicyInfo& info : policy_table) {
    if (info.name == contender) return std::string(info.colour);
  }
  for (const Question& question : results.plan.questions) {
    const auto place = std::ranges::find(question.contenders, contender) - question.contenders.begin();
    if (place < std::ssize(question.contenders))
      return std::string(others[static_cast<std::size_t>(place) % others.size()]);
  }
  return std::string(others.front());
}

std::string about_drift() {
  return fmt::format(
      "After half of the rounds every clique gets another vector, all at once. Nobody is told. The graph noise is "
      "{:.1f} % and the payoff noise {} all the time.",
      100.0 * experiment::rivals::drift_graph_noise / experiment::paper::clique_edges,
      experiment::rivals::drift_payoff_noise);
}

std::string how_it_was_tuned(const Results& results) {
  const auto& study = results.all().front()->study;
  const auto& drift = results.others.front().study;
  return fmt::format(
      "Every contender could try {} settings in every world, on the tuning seeds {}, over {} rounds ({} where vectors "
      "change). The settings are the first {} different points of the Halton sequence over the contender's own grid, "
      "which is fixed in advance. The setting with the highest mean was played over {} rounds on the evaluation seeds "
      "{}, which no choice has seen. Where nothing changes, the longest window is as long as the tuning, so it is "
      "chosen "
      "by what it earns before it forgets anything.",
      results.plan.budget, list_of(study.tuning_seeds), grouped(study.tuning_rounds), grouped(drift.tuning_rounds),
      results.plan.budget, grouped(study.rounds), list_of(study.evaluation_seeds));
}

}  // namespace goblin::report
