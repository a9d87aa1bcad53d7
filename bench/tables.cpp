#include "tables.hpp"

#include "goblin/report/html.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace goblin::bench {
namespace {

/// A counter with its heading. Where it is a time, `unit` is how many seconds its unit has.
struct ColumnPlan {
  const char* counter;
  const char* heading;
  std::optional<double> unit;
};

/// A row for every benchmark of the families.
struct TablePlan {
  std::vector<std::string_view> families;
  const char* heading;
  const char* caption;
  std::vector<ColumnPlan> columns;
};

const std::vector<TablePlan>& plans() {
  constexpr double millisecond = 1e-3;
  constexpr double microsecond = 1e-6;
  static const std::vector<TablePlan> all = {
      {{"readers"},
       "Deciding while others learn",
       "One decision among 25 candidates every 50 us, on the clock on the wall, so that waiting counts, while so many "
       "other threads learn without pause. sparse and local on Last.fm, dense among 80 users.",
       {{"p50_us", "median", microsecond},
        {"p99_us", "99 of 100 below", microsecond},
        {"p99_9_us", "999 of 1000 below", microsecond}}},
      {{"learner"},
       "Learning while others decide",
       "One thread learns while so many others decide without pause. Where there are more threads than cores, the "
       "rewards in a second of the learner's own processor time say more than those in a second on the wall.",
       {{"per_second", "rewards a second", {}},
        {"per_own_second", "rewards a second of its own", {}},
        {"decisions_per_second", "decisions a second", {}}}},
      {{"local_round", "local_hubs"},
       "local: one reward and one decision at a time",
       "Processor time on graphs with communities (average degree 14), d = 25, 25 candidates, default tolerance. "
       "local_hubs: a third of the edges go to a few users, the largest hub has 2 % of all users as friends. The bound "
       "says how far a score can be off from the exact one.",
       {{"select_median", "select, median", millisecond},
        {"select_p99", "99 of 100 below", millisecond},
        {"update_median", "update, median", millisecond},
        {"update_p99", "99 of 100 below", millisecond},
        {"edges_p50", "edges walked, median", {}},
        {"MB", "memory, MB", {}},
        {"bound", "average bound", {}},
        {"width", "average width", {}}}},
      {{"local_edit"},
       "local: edges that come and go",
       "Time on the wall, after one reward a user: an edge added, removed, the first edge of a new user, and one of "
       "twenty edges in an update_edges.",
       {{"add_ms", "added, median", millisecond},
        {"add_p99_ms", "99 of 100 below", millisecond},
        {"remove_ms", "removed, median", millisecond},
        {"first_ms", "first of a user, median", millisecond},
        {"batched_ms", "one of twenty, median", millisecond}}},
      {{"bulk_local"},
       "local: a log of millions",
       "A log learned in batches, on all cores; then the bounds of 2,000 decisions, of the means alone and of the "
       "scores "
       "with alpha 1.",
       {{"wall_s", "time", 1.0},
        {"cpu_s", "processor time", 1.0},
        {"peak_GB", "memory, GB", {}},
        {"average_mean_bound", "average bound, means", {}},
        {"average_bound", "average bound, scores", {}}}}};
  return all;
}

/// Nothing where none of its benchmarks was run.
std::string table_of(const TablePlan& plan, std::span<const Measurement> measurements) {
  std::string rows;
  for (const Measurement& each : measurements) {
    if (std::find(plan.families.begin(), plan.families.end(), each.family) == plan.families.end()) continue;
    rows += fmt::format("<tr><td>{}</td>", report::html_escaped(each.name()));
    for (const ColumnPlan& column : plan.columns) {
      const auto value = each.counter(column.counter);
      const std::string words = !value        ? ""
                                : column.unit ? time_words(*column.unit * *value)
                                              : fmt::format("{:.4g}", *value);
      rows += fmt::format("<td class=\"number\">{}</td>", words);
    }
    rows += "</tr>\n";
  }
  if (rows.empty()) return "";
  std::string head = "<th>benchmark</th>";
  for (const ColumnPlan& column : plan.columns) head += fmt::format("<th>{}</th>", column.heading);
  return fmt::format(
      "<h2>{}</h2>\n<p class=\"soft\">{}</p>\n<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>\n{}"
      "</tbody></table></div>\n",
      plan.heading, report::html_escaped(plan.caption), head, rows);
}

}  // namespace

std::string tables_of(std::span<const Measurement> measurements) {
  std::string text;
  for (const TablePlan& plan : plans()) text += table_of(plan, measurements);
  return text;
}

}  // namespace goblin::bench
