#pragma once

#include "goblin/goblin.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

namespace goblin::bench {

/// The first rounds of a world, drawn before anything is timed.
inline std::vector<world::Round> first_rounds(const world::World& world, std::size_t count) {
  std::vector<world::Round> rounds(count);
  for (std::size_t t = 0; t < count; ++t) world.round(t, rounds[t]);
  return rounds;
}

/// Last.fm, if its data is there: in the folder GOBLIN_DATA names, or beside the repository.
inline std::optional<data::Dataset> lastfm() {
  const char* named = std::getenv("GOBLIN_DATA");
  const std::filesystem::path folder = named != nullptr ? named : GOBLIN_DEFAULT_DATA;
  if (data::find_lastfm(folder).empty()) return std::nullopt;
  return data::read_lastfm(folder);
}

}  // namespace goblin::bench
