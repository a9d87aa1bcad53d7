#pragma once

#include "goblin/experiment/sweep.hpp"

#include <span>
#include <string>
#include <vector>

namespace goblin::report {

using TableRow = std::vector<std::string>;

/// Rows of equally many columns, the first one a header, in columns for a terminal: the first column to the left, the
/// others to the right; columns that say nothing ("-" everywhere) are left out.
[[nodiscard]] std::string aligned(const std::vector<TableRow>& rows);

/// The results one below the other, in columns, for a terminal.
[[nodiscard]] std::string table(std::span<const experiment::Result> results);

/// Writes the table of one trace to standard output.
void print(const experiment::Trace& trace);

}  // namespace goblin::report
