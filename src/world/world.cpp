#include "goblin/world/world.hpp"

#include <numeric>

namespace goblin::world {

double Round::average_payoff() const {
  return std::accumulate(payoffs.begin(), payoffs.end(), 0.0) / static_cast<double>(payoffs.size());
}

Round World::round(std::uint64_t t) const {
  Round result;
  round(t, result);
  return result;
}

}  // namespace goblin::world
