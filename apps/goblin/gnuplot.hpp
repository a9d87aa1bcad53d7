#pragma once

#include <string>

namespace goblin::app {

/// Whether the program gnuplot can be found.
[[nodiscard]] bool has_gnuplot();

/// Runs a script; what it plots to the terminal comes back. Throws std::runtime_error if gnuplot is missing or
/// complains.
std::string run_gnuplot(const std::string& script);

}  // namespace goblin::app
