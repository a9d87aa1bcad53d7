#pragma once

#include "goblin/belief/options.hpp"

#include <cstddef>
#include <string>

namespace goblin {

/// The bytes that may still be taken: EngineOptions::memory_limit, or what the machine or its control group has free.
[[nodiscard]] std::size_t available_bytes(const EngineOptions& options);

/// "1.5 MB (1500000 bytes)".
[[nodiscard]] std::string readable_bytes(std::size_t bytes);

}  // namespace goblin
