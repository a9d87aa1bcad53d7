#pragma once

#include "binary.hpp"
#include "goblin/experiment/cell.hpp"

#include <string>
#include <vector>

/// Cells as bytes, in files and on their way to other processes.
namespace goblin::experiment {

/// The file's name within the store's folder, without its ending.
[[nodiscard]] std::string name_of(const Cell& cell);

/// What is written beside what a cell found: its name, so that a file that was moved is not mistaken for another, and
/// who found it, because another goblin may find something else.
[[nodiscard]] std::string key_of(const Cell& cell);

void write_curve(BinaryWriter& out, const std::vector<Point>& curve);
[[nodiscard]] std::vector<Point> read_curve(BinaryReader& in);

}  // namespace goblin::experiment
