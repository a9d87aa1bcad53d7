#pragma once

#include <cstddef>

namespace goblin {

/// How often memory was asked for so far, by operator new, in the whole test program.
std::size_t allocation_count();

}  // namespace goblin
