#include "offline/tail.hpp"

#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace goblin::offline {

double tail_of(double level, std::size_t users) {
  const auto n = static_cast<double>(users);
  const double student = boost::math::quantile(boost::math::students_t(n - 1.0), 0.5 + level / 2.0);
  return boost::math::cdf(boost::math::normal(), -std::sqrt(n / (n - 1.0)) * student);
}

}  // namespace goblin::offline
