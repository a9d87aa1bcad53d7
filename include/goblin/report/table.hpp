#pragma once

#include "goblin/experiment/sweep.hpp"

#include <span>
#include <string>

namespace goblin::report {

/// The results one below the other, in columns, for a terminal.
[[nodiscard]] std::string table(std::span<const experiment::Result> results);

/// Writes the table of one trace to standard output.
void print(const experiment::Trace& trace);

}  // namespace goblin::report
