#pragma once

#include <string_view>

namespace goblin {

/// The instructions that the engines use in this process: "x86-64-v4" (AVX-512), "x86-64-v3" (AVX2 and FMA), "x86-64"
/// (any such processor), or "plain" where the engines were compiled once only.
///
/// It is the best that the processor has, found out once. The environment variable GOBLIN_INSTRUCTIONS asks for a lower
/// one, for example to get the bits of an older machine; throws std::invalid_argument if it names one that this
/// processor or this build does not have.
[[nodiscard]] std::string_view instruction_set();

}  // namespace goblin
