#pragma once

#include <cstddef>

namespace goblin::offline {

/// How much of a bootstrap that draws so many users (at least 2) is left out at each end. A resample of a few users
/// differs less from the sample than that differs from the world; so less is left out than the level says, as Student's
/// distribution does for a mean (Hesterberg's expanded percentile interval).
[[nodiscard]] double tail_of(double level, std::size_t users);

}  // namespace goblin::offline
