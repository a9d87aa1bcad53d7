#pragma once

#include "goblin/shard.hpp"

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// --shard I/N, with I from 1 to N.
CLI::Option* add_shard_option(CLI::App& command, Shard& shard, const std::string& description);

/// "I/N" again.
[[nodiscard]] std::string text_of(const Shard& shard);

}  // namespace goblin::app
