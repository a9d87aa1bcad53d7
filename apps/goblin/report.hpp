#pragma once

#include <cstdio>
#include <string_view>

namespace goblin::app {

/// Writes a message to standard error. If nobody can read it any more (the pipe is closed, the disk is full), the
/// message is lost and the program goes on: fmt::print would throw.
inline void report(std::string_view message) noexcept { std::fwrite(message.data(), 1, message.size(), stderr); }

}  // namespace goblin::app
