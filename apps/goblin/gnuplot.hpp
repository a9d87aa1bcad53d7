#pragma once

#include <filesystem>
#include <string>

namespace goblin::app {

/// Whether the program gnuplot can be found.
[[nodiscard]] bool has_gnuplot();

/// Runs a script; what it plots to the terminal comes back. Throws std::runtime_error if gnuplot is missing or
/// complains.
std::string run_gnuplot(const std::string& script);

/// The same in a folder, where the files go that the script draws.
void run_gnuplot_in(const std::filesystem::path& folder, const std::string& script);

}  // namespace goblin::app
