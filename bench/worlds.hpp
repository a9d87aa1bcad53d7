#pragma once

#include "goblin/goblin.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

namespace goblin::bench {

/// The first rounds of a world, drawn before anything is timed.
inline std::vector<world::Round> first_rounds(const world::World& world, std::size_t count) {
  std::vector<world::Round> rounds(count);
  for (std::size_t t = 0; t < count; ++t) world.round(t, rounds[t]);
  return rounds;
}

/// Last.fm, if its data is there: in the folder GOBLIN_DATA names, or beside the repository.
inline std::filesystem::path data_folder() {
  const char* named = std::getenv("GOBLIN_DATA");
  return named != nullptr ? named : GOBLIN_DEFAULT_DATA;
}
inline std::optional<data::Dataset> lastfm(const data::ReadOptions& options = {}) {
  if (data::find_lastfm(data_folder()).empty()) return std::nullopt;
  return data::read_lastfm(data_folder(), options);
}
/// The same for a benchmark, which is left out where it is not there.
inline std::optional<data::Dataset> lastfm_or_skip(benchmark::State& state) {
  auto data = lastfm();
  if (!data) state.SkipWithError("no Last.fm data: set GOBLIN_DATA to its folder");
  return data;
}
inline std::optional<data::Dataset> delicious(const data::ReadOptions& options = {}) {
  if (data::find_delicious(data_folder()).empty()) return std::nullopt;
  return data::read_delicious(data_folder(), options);
}

}  // namespace goblin::bench
