#pragma once

namespace goblin::bench {

/// Registers the benchmarks behind the figures of the page, for every engine that there is.
void register_suite();

}  // namespace goblin::bench
