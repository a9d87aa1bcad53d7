#include "goblin/report/claims.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace goblin::report {
namespace {

Claim claim_of(std::vector<std::vector<double>> differences) {
  Claim claim;
  for (auto& each : differences) claim.differences.push_back({.label = "", .by_seed = std::move(each), .estimate = {}});
  judge(claim);
  return claim;
}

TEST(Judge, decides_by_the_interval) {
  const Claim up = claim_of({{4.0, 5.0, 6.0, 5.0}});
  EXPECT_EQ(up.verdict, Verdict::holds);
  EXPECT_DOUBLE_EQ(up.differences[0].estimate.mean, 5.0);
  EXPECT_NEAR(up.differences[0].low, 5.0 - 3.18245 * std::sqrt(2.0 / 3.0 / 4.0), 1e-4);
  EXPECT_EQ(claim_of({{-4.0, -5.0, -6.0}}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(claim_of({{4.0, -5.0, 6.0}}).verdict, Verdict::not_decided);
  EXPECT_EQ(claim_of({{0.0, 0.0, 0.0}}).verdict, Verdict::not_decided);
}

TEST(Judge, a_claim_needs_all_its_differences) {
  const std::vector<double> up = {4.0, 5.0, 6.0, 5.0};
  const std::vector<double> down = {-4.0, -5.0, -6.0, -5.0};
  const std::vector<double> open = {1.0, -1.0, 2.0, 0.0};
  EXPECT_EQ(claim_of({up, up}).verdict, Verdict::holds);
  EXPECT_EQ(claim_of({up, open}).verdict, Verdict::not_decided);
  EXPECT_EQ(claim_of({up, open, down}).verdict, Verdict::does_not_hold);
  const Claim three = claim_of({up, open, down});
  EXPECT_EQ(&three.weakest(), &three.differences[2]);
}

TEST(Judge, more_differences_need_wider_intervals) {
  const std::vector<double> narrow = {0.8, 2.4, 1.6, 2.8, 0.7};
  EXPECT_EQ(claim_of({narrow}).verdict, Verdict::holds);
  EXPECT_EQ(claim_of(std::vector(12, narrow)).verdict, Verdict::not_decided);
}

}  // namespace
}  // namespace goblin::report
