#include "goblin/report/table.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace goblin::report {
namespace {

std::string number(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string estimate(const std::optional<experiment::Estimate>& value) {
  if (!value) return "-";
  if (!value->standard_error) return number(value->mean, 1);
  return fmt::format("{:.1f} +- {:.1f}", value->mean, *value->standard_error);
}

std::string bytes(std::size_t count) {
  constexpr std::array units = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(count);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < units.size()) {
    value /= 1000.0;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 100.0 ? 0 : 1, units[unit]);
}

}  // namespace

std::string aligned(const std::vector<TableRow>& rows) {
  std::string text;
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const bool empty = rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(),
                                                      [column](const TableRow& row) { return row[column] == "-"; });
    if (empty) continue;
    for (const TableRow& row : rows) widths[column] = std::max(widths[column], row[column].size());
  }
  for (const TableRow& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t column = 1; column < row.size(); ++column) {
      if (widths[column] > 0) line += fmt::format("  {:>{}}", row[column], widths[column]);
    }
    text += line + '\n';
  }
  return text;
}

std::string table(std::span<const experiment::Result> results) {
  std::vector<TableRow> rows = {{"policy", "alpha", "exploration", "rounds", "repetitions", "normalized reward",
                                 "x random", "regret", "Theorem 1", "rounds/s", "bytes", "engine"}};
  for (const experiment::Result& result : results) {
    // The paper's rule goes by its alpha, the others by their names.
    const bool by_alpha = result.exploration.alpha() && !result.exploration.is_random();
    rows.push_back({std::string(name_of(result.policy)),
                    by_alpha ? fmt::format("{}", *result.exploration.alpha()) : "-",
                    by_alpha ? "-" : name_of(result.exploration), std::to_string(result.rounds),
                    std::to_string(result.repetitions), estimate(result.normalized_reward),
                    number(result.ratio_to_random, 2), estimate(result.regret), estimate(result.regret_bound),
                    result.rounds_per_second > 0.0 ? number(result.rounds_per_second, 0) : "-", bytes(result.bytes),
                    result.engine.empty() ? "-" : result.engine});
  }
  return aligned(rows);
}

void print(const experiment::Trace& trace) {
  std::cout << table(std::vector{experiment::summarize(std::span(&trace, 1))});
}

}  // namespace goblin::report
