#pragma once

#include "goblin/experiment/simulate.hpp"
#include "goblin/world/world.hpp"

#include <ostream>

namespace goblin::report {

/// The names of the columns of write_csv.
void write_csv_header(std::ostream& out);

/// The rows of a trace, flat: everything that identifies the simulation stands in each of them. Users and items go by
/// their names where the world, which must be the one of the trace, has some.
void write_csv(std::ostream& out, const experiment::Trace& trace, const world::World& world);

}  // namespace goblin::report
