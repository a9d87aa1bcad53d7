#include "goblin/data/principal_components.hpp"

#include "goblin/random.hpp"

#include <cmath>
#include <stdexcept>
#include <tuple>

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace goblin::data {
namespace principal_components_test {

SparseRows random_rows(std::size_t row_count, std::size_t column_count, std::size_t entries) {
  Random random(3);
  std::vector<Entry> list;
  for (std::size_t k = 0; k < entries; ++k) {
    const auto column = random.below(column_count);
    list.push_back({static_cast<NodeId>(random.below(row_count * 3 / 4)), static_cast<NodeId>(column),
                    random.uniform(0.5, 3.0) / (1.0 + 0.05 * static_cast<double>(column))});
  }
  return {row_count, column_count, list};
}

Eigen::MatrixXd dense(const SparseRows& rows) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.row_count()),
                                                 static_cast<Eigen::Index>(rows.column_count()));
  for (const Entry& entry : rows.entries()) matrix(entry.row, entry.column) = entry.value;
  return matrix;
}

using Case = std::tuple<std::size_t, bool>;  // columns, centred
class AgainstDenseSvd : public ::testing::TestWithParam<Case> {};

/// 40 columns take the way for small matrices, 300 that for large ones.
TEST_P(AgainstDenseSvd, axes_values_and_rows_agree) {
  const auto [columns, centre] = GetParam();
  const SparseRows rows = random_rows(200, columns, 2500);
  const Projection result = principal_components(rows, {.dimension = 7, .centre = centre});

  Eigen::MatrixXd matrix = dense(rows);
  if (centre) matrix.rowwise() -= matrix.colwise().mean().eval();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> projected(
      result.rows.data(), 200, 7);
  double kept = 0.0;
  for (Eigen::Index k = 0; k < 7; ++k) {
    const double sigma = svd.singularValues()[k];
    kept += sigma * sigma;
    EXPECT_NEAR(result.singular_values[static_cast<std::size_t>(k)], sigma, 1e-8 * svd.singularValues()[0]);
    const Eigen::Map<const Eigen::VectorXd> axis(result.axes.data() + static_cast<std::size_t>(k) * columns,
                                                 static_cast<Eigen::Index>(columns));
    EXPECT_NEAR(axis.norm(), 1.0, 1e-10);
    EXPECT_GT(axis.maxCoeff(), -axis.minCoeff() - 1e-12);
    EXPECT_LT((matrix.transpose() * (matrix * axis) - sigma * sigma * axis).norm(),
              1e-7 * svd.singularValues()[0] * svd.singularValues()[0]);
    EXPECT_LT((projected.col(k) - matrix * axis).norm(), 1e-9 * matrix.norm());
  }
  EXPECT_NEAR(result.explained, kept / matrix.squaredNorm(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(PrincipalComponents, AgainstDenseSvd,
                         ::testing::Combine(::testing::Values(40, 300), ::testing::Bool()));

TEST(PrincipalComponents, may_leave_empty_rows_out_of_the_mean) {
  const SparseRows with(4, 2, std::vector<Entry>{{0, 0, 3.0}, {1, 1, 4.0}});
  const SparseRows without(2, 2, std::vector<Entry>{{0, 0, 3.0}, {1, 1, 4.0}});
  const auto a = principal_components(with, {.dimension = 2, .count_empty_rows = false});
  const auto b = principal_components(without, {.dimension = 2});
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(a.rows[k], b.rows[k], 1e-12);
  EXPECT_GT(std::abs(principal_components(with, {.dimension = 2}).singular_values[0] - b.singular_values[0]), 0.1);
}

TEST(PrincipalComponents, refuse_a_dimension_that_is_not_there) {
  const SparseRows rows = random_rows(20, 5, 50);
  EXPECT_THROW((void)principal_components(rows, {.dimension = 0}), std::invalid_argument);
  EXPECT_THROW((void)principal_components(rows, {.dimension = 6}), std::invalid_argument);
  EXPECT_EQ(principal_components(rows, {.dimension = 5}).rows.size(), 100);
}

TEST(PrincipalComponents, of_fewer_than_d_directions_are_zero_beyond) {
  std::vector<Entry> list;
  for (NodeId row = 0; row < 400; ++row) list.push_back({row, row % 3, 1.0});
  const auto result = principal_components(SparseRows(400, 300, list), {.dimension = 10});
  for (std::size_t k = 2; k < 10; ++k) EXPECT_NEAR(result.singular_values[k], 0.0, 1e-5);
  EXPECT_NEAR(result.explained, 1.0, 1e-9);
}

}  // namespace principal_components_test
}  // namespace goblin::data
