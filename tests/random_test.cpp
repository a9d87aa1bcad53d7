#include "goblin/random.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace random_test {

// To the last bit, on every machine, with every compiler and whatever it makes of a * b + c.
TEST(Random, gives_these_numbers_everywhere) {
  Random random(1, 2, 3);
  std::vector<double> normals(6);
  for (double& each : normals) each = random.normal();
  EXPECT_THAT(normals, ::testing::ElementsAre(-0x1.f3392165c9266p-2, -0x1.9b47c38a48427p-2, 0x1.1a63f7f69acd3p+1,
                                              0x1.8ca7c377da911p-3, -0x1.aed07e5eced93p-1, 0x1.05beafb8a699bp+0));
  for (int k = 0; k < 6; ++k) (void)random.uniform();
  EXPECT_EQ(random.uniform(-0.3, 0.1), -0x1.93abac1e12ebdp-7);  // rounded twice it would end in ec0
}

TEST(Random, normal_is_box_and_mullers) {
  Random random(7);
  Random again(7);
  for (int k = 0; k < 100'000; ++k) {
    const long double u = again.uniform();
    const long double v = again.uniform();
    const long double expected =
        std::sqrt(-2.0L * std::log1p(-u)) * std::cos(2.0L * std::numbers::pi_v<long double> * v);
    ASSERT_NEAR(random.normal(), static_cast<double>(expected), 2e-15) << k;
  }
}

TEST(Random, normal_has_the_moments_of_a_normal) {
  Random random(8);
  constexpr int count = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  double fourths = 0.0;
  for (int k = 0; k < count; ++k) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0.0, 0.01);
  EXPECT_NEAR(squares / count, 1.0, 0.02);
  EXPECT_NEAR(fourths / count, 3.0, 0.1);
}

}  // namespace random_test
}  // namespace goblin
