#pragma once

#include "goblin/belief/options.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace goblin {

/// The bytes that may still be taken: EngineOptions::memory_limit, or what the machine or its control group has free.
[[nodiscard]] std::size_t available_bytes(const EngineOptions& options);
/// Less those that are taken already, where there is a memory_limit.
[[nodiscard]] std::size_t available_bytes(const EngineOptions& options, const std::function<std::size_t()>& taken);

/// The one place that decides whether something fits. Throws CapacityError if `work` ("learning 400 rewards at once")
/// needs more bytes than may be taken, beside those that are `taken` already: these count where there is a
/// memory_limit, what the machine has free is without them. `what_fits` is asked then, with the bytes there are, and
/// ends the message.
void check_memory(std::string_view work, double needed, const EngineOptions& options,
                  const std::function<std::size_t()>& taken,
                  const std::function<std::string(std::size_t available)>& what_fits);

/// How many, from 1 to `most`, fit into so many bytes: bytes(count) does not decrease. 0: none.
[[nodiscard]] std::size_t most_that_fit(std::size_t most, std::size_t available,
                                        const std::function<double(std::size_t count)>& bytes);

/// "1.5 MB (1500000 bytes)".
[[nodiscard]] std::string readable_bytes(std::size_t bytes);

}  // namespace goblin
