#pragma once

#include "goblin/world/world.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace goblin::app {

/// What was written.
struct RandomLog {
  std::uint64_t decisions = 0;
  double mean_reward = 0.0;
  std::vector<std::string> files;
};

/// Writes the rounds of a world into a folder as a log of logged decisions (EventReader): in each round one candidate
/// was shown, any of them with the same probability. The files are edges.tsv, log.jsonl and, where the world has items,
/// items.tsv. Throws std::invalid_argument if a name is not UTF-8 or has a tab or a line end in it, std::runtime_error
/// if a file cannot be written.
RandomLog write_random_log(const world::World& world, std::uint64_t rounds, const std::filesystem::path& folder);

}  // namespace goblin::app
