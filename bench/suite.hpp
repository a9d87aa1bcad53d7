#pragma once

#include "goblin/belief/options.hpp"

#include <string>
#include <vector>

namespace goblin::bench {

struct NamedEngine {
  std::string name;
  EngineKind kind;
};

/// The engines that there are, by the names that lines of a plot have.
inline std::vector<NamedEngine> engines() {
  return {{"dense", EngineKind::dense}, {"sparse", EngineKind::sparse}, {"local", EngineKind::local}};
}

/// Registers the benchmarks behind the figures of the page, for every engine that there is.
void register_suite();

/// Its part about many rewards at once.
void register_bulk();

}  // namespace goblin::bench
