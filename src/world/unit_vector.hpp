#pragma once

#include "goblin/random.hpp"

#include <cmath>
#include <span>

namespace goblin::world {

/// Uniform in [-1, 1]^d, then scaled to unit length.
inline void draw_unit_vector(Random& random, std::span<double> vector) {
  double squares = 0.0;
  while (squares == 0.0) {
    for (double& number : vector) {
      number = random.uniform(-1.0, 1.0);
      squares += number * number;
    }
  }
  const double factor = 1.0 / std::sqrt(squares);
  for (double& number : vector) number *= factor;
}

}  // namespace goblin::world
