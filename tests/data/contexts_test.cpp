#include "goblin/data/contexts.hpp"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace goblin::data {
namespace contexts_test {

/// Four items and three words, by hand: word 0 in two items, word 1 in one, word 2 in three; item 3 has none.
SparseRows counts() {
  return {4, 3, std::vector<Entry>{{0, 0, 2.0}, {0, 1, 1.0}, {1, 0, 1.0}, {0, 2, 5.0}, {1, 2, 1.0}, {2, 2, 3.0}}};
}

TEST(TfIdf, of_an_example_worked_by_hand) {
  const SparseRows weighed = tf_idf(counts());
  EXPECT_NEAR(weighed.at(0, 0), 2.0 * std::log(4.0 / 2.0), 1e-15);
  EXPECT_NEAR(weighed.at(0, 1), 1.386294361119891, 1e-15);   // ln 4
  EXPECT_NEAR(weighed.at(0, 2), 1.438410362258904, 1e-14);   // 5 ln(4 / 3)
  EXPECT_NEAR(weighed.at(1, 0), 0.6931471805599453, 1e-15);  // ln 2
  EXPECT_NEAR(weighed.at(2, 2), 0.8630462173553426, 1e-15);  // 3 ln(4 / 3)
  EXPECT_TRUE(weighed.columns(3).empty());
}

TEST(TfIdf, may_leave_items_without_words_out_of_the_count) {
  const SparseRows weighed = tf_idf(counts(), {.count_untagged = false});
  EXPECT_NEAR(weighed.at(0, 1), std::log(3.0), 1e-15);
  EXPECT_EQ(weighed.at(2, 2), 0.0);  // in all of the three items
}

TEST(TfIdf, takes_counts_as_binary_or_sublinear) {
  const SparseRows binary = tf_idf(counts(), {.term_frequency = TermFrequency::binary});
  EXPECT_NEAR(binary.at(0, 0), std::log(2.0), 1e-15);
  EXPECT_NEAR(binary.at(0, 2), std::log(4.0 / 3.0), 1e-15);
  const SparseRows sublinear = tf_idf(counts(), {.term_frequency = TermFrequency::sublinear});
  EXPECT_NEAR(sublinear.at(0, 2), (1.0 + std::log(5.0)) * std::log(4.0 / 3.0), 1e-15);
  EXPECT_NEAR(sublinear.at(1, 2), std::log(4.0 / 3.0), 1e-15);
  const SparseRows light(1, 2, std::vector<Entry>{{0, 0, 0.1}});
  EXPECT_EQ(tf_idf(light, {.term_frequency = TermFrequency::sublinear, .inverse_document_frequency = false}).at(0, 0),
            1.0);
  for (const auto each : {TermFrequency::counts, TermFrequency::binary, TermFrequency::sublinear}) {
    EXPECT_EQ(term_frequency_named(name_of(each)), each);
  }
  EXPECT_THROW((void)term_frequency_named("log"), std::invalid_argument);
}

TEST(TfIdf, can_be_smooth_or_left_out) {
  const SparseRows smooth = tf_idf(counts(), {.smooth_idf = true});
  EXPECT_NEAR(smooth.at(0, 0), 2.0 * (std::log(5.0 / 3.0) + 1.0), 1e-15);
  EXPECT_NEAR(smooth.at(2, 2), 3.0 * (std::log(5.0 / 4.0) + 1.0), 1e-15);
  EXPECT_EQ(tf_idf(counts(), {.inverse_document_frequency = false}).at(0, 2), 5.0);
}

double length_of(const ItemContexts& contexts, std::size_t item) {
  double squares = 0.0;
  for (std::size_t k = 0; k < contexts.dimension; ++k) {
    squares += std::pow(contexts.numbers[item * contexts.dimension + k], 2);
  }
  return std::sqrt(squares);
}

TEST(Contexts, have_the_mean_length_that_is_asked_for) {
  for (const double mean : {1.0, 7.5}) {
    const ItemContexts contexts = make_contexts(counts(), {.dimension = 2, .mean_length = mean});
    ASSERT_EQ(contexts.numbers.size(), 8);
    double total = 0.0;
    for (std::size_t item = 0; item < 4; ++item) total += length_of(contexts, item);
    EXPECT_NEAR(total / 4.0, mean, 1e-12);
  }
  const auto scaled = make_contexts(counts(), {.dimension = 2});
  const auto plain = make_contexts(counts(), {.dimension = 2, .mean_length = 0.0});
  EXPECT_EQ(plain.scale, 1.0);
  EXPECT_NEAR(length_of(plain, 0) * scaled.scale, length_of(scaled, 0), 1e-12);
}

TEST(Contexts, of_all_components_keep_distances) {
  const auto contexts = make_contexts(counts(), {.zero_untagged = false, .dimension = 3, .mean_length = 0.0});
  const SparseRows weighed = tf_idf(counts());
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      double projected = 0.0;
      double direct = 0.0;
      for (NodeId k = 0; k < 3; ++k) {
        projected += std::pow(contexts.numbers[a * 3 + k] - contexts.numbers[b * 3 + k], 2);
        direct += std::pow(weighed.at(a, k) - weighed.at(b, k), 2);
      }
      EXPECT_NEAR(projected, direct, 1e-12);
    }
  }
  EXPECT_NEAR(contexts.explained, 1.0, 1e-12);
}

TEST(Contexts, of_items_without_tags_are_zero) {
  EXPECT_EQ(length_of(make_contexts(counts(), {.dimension = 2}), 3), 0.0);
  EXPECT_GT(length_of(make_contexts(counts(), {.zero_untagged = false, .dimension = 2}), 3), 0.0);
}

TEST(Contexts, of_unit_rows_all_have_unit_length) {
  const auto contexts =
      make_contexts(counts(), {.unit_rows = true, .centre = false, .dimension = 3, .mean_length = 0.0});
  for (std::size_t item = 0; item < 3; ++item) EXPECT_NEAR(length_of(contexts, item), 1.0, 1e-12);
}

TEST(Contexts, of_length_1_keep_their_directions) {
  const auto plain = make_contexts(counts(), {.dimension = 2});
  const auto unit = make_contexts(counts(), {.dimension = 2, .unit_contexts = true, .mean_length = 7.0});
  EXPECT_TRUE(unit.unit_length);
  EXPECT_FALSE(plain.unit_length);
  for (std::size_t item = 0; item < 3; ++item) {
    EXPECT_NEAR(length_of(unit, item), 1.0, 1e-12);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(unit.numbers[2 * item + k] * length_of(plain, item), plain.numbers[2 * item + k], 1e-12);
    }
  }
  EXPECT_EQ(length_of(unit, 3), 0.0) << "no tags";
}

TEST(Contexts, that_rounding_left_of_zero_are_not_scaled_to_length_1) {
  ItemContexts contexts{.dimension = 2, .numbers = {3.0, 4.0, 1e-12, -1e-12, 1e-6, 0.0}};
  scale_to_unit_length(contexts);
  EXPECT_THAT(contexts.numbers, ::testing::ElementsAre(0.6, 0.8, 0.0, 0.0, 1.0, 0.0));
}

TEST(Contexts, refuse_a_mean_length_that_is_none) {
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)make_contexts(counts(), {.dimension = 2, .mean_length = bad}), std::invalid_argument);
  }
}

}  // namespace contexts_test
}  // namespace goblin::data
