#pragma once

#include "goblin/report/page.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace goblin::app {

/// Whether the program gnuplot can be found.
[[nodiscard]] bool has_gnuplot();

/// Runs a script; what it plots to the terminal comes back. Throws std::runtime_error if gnuplot is missing or
/// complains.
std::string run_gnuplot(const std::string& script);

/// Draws figures into a folder, NAME.svg and NAME.pdf each, and gives what of them goes into a page.
std::vector<report::DrawnFigure> draw(std::vector<report::Figure> figures, const std::filesystem::path& folder);

}  // namespace goblin::app
