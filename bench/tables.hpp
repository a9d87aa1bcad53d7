#pragma once

#include "measurement.hpp"

#include <span>
#include <string>

namespace goblin::bench {

/// The tables of the page, HTML: those of which nothing was measured are left out.
[[nodiscard]] std::string tables_of(std::span<const Measurement> measurements);

}  // namespace goblin::bench
