#include "goblin/experiment/paper.hpp"

#include <set>

#include <gtest/gtest.h>

namespace goblin::experiment::paper {
namespace paper_test {

data::Dataset small_data() {
  data::Dataset data;
  data.graph = Graph(4, std::vector<Edge>{{0, 1}, {1, 2, 2.0}});
  data.items.insert("tea");
  data.items.insert("soup");
  data.contexts = {.dimension = 2, .numbers = {1.0, 0.0, 0.5, 0.25}};
  data.payoffs = data::SparseRows(4, 2, std::vector<data::Entry>{{0, 0, 1.0}, {1, 1, 0.5}});
  return data;
}

/// The keys of the conditions that play with the data.
std::pair<std::string, std::string> keys_of(const data::Dataset& data) {
  const Plan made = plan({.lastfm = std::make_shared<const data::Dataset>(data)});
  return {made.datasets.at(0).condition.key, made.theorem.at(0).condition.key};
}

TEST(Paper, cells_of_other_data_are_other_cells) {
  std::vector<data::Dataset> all(7, small_data());
  all[1].graph = Graph(4, std::vector<Edge>{{0, 1}, {1, 3, 2.0}});
  all[2].graph = Graph(4, std::vector<Edge>{{0, 1}, {1, 2, 2.5}});
  all[3].graph = Graph(5, std::vector<Edge>{{0, 1}, {1, 2, 2.0}});
  all[4].payoffs = data::SparseRows(4, 2, std::vector<data::Entry>{{0, 0, 1.0}, {1, 1, 0.75}});
  all[5].payoffs = data::SparseRows(4, 2, std::vector<data::Entry>{{0, 0, 1.0}, {2, 1, 0.5}});
  all[6].contexts.numbers[3] = 0.3;
  std::set<std::string> keys;
  std::set<std::string> graph_keys;
  for (const data::Dataset& each : all) {
    keys.insert(keys_of(each).first);
    graph_keys.insert(keys_of(each).second);
  }
  EXPECT_EQ(keys.size(), all.size());
  EXPECT_EQ(graph_keys.size(), 4U) << "a linear world takes the graph alone from the data";
  EXPECT_EQ(keys_of(all[0]), keys_of(small_data()));
}

TEST(Paper, no_scale_is_tuned_where_contexts_have_length_1) {
  data::Dataset unit = small_data();
  unit.contexts.unit_length = true;
  const Plan made =
      plan({.lastfm = std::make_shared<const data::Dataset>(small_data()),
            .reading = "literal",
            .others = {{.name = "unit-contexts", .lastfm = std::make_shared<const data::Dataset>(unit)}}});
  for (const Contender& each : made.datasets.at(0).contenders) EXPECT_GT(each.scales.size(), 1U) << each.name;
  ASSERT_EQ(made.others.size(), 1U);
  for (const Contender& each : made.others[0].datasets.at(0).contenders) {
    EXPECT_EQ(each.scales, std::vector<double>{1.0}) << each.name;
  }
}

TEST(Paper, no_scale_is_tuned_on_4cliques) {
  const Plan made = plan({.cliques = true});
  ASSERT_EQ(made.grid.size(), 12U);
  for (const auto* studies : {&made.grid, &made.curve}) {
    for (const GridStudy& each : *studies) {
      for (const Contender& contender : each.study.contenders) EXPECT_EQ(contender.scales, std::vector<double>{1.0});
    }
  }
}

TEST(Paper, other_readings_run_what_the_matrix_shows_and_no_more) {
  const auto data = std::make_shared<const data::Dataset>(small_data());
  const Plan made = plan({.lastfm = data, .reading = "literal", .others = {{.name = "carleton", .lastfm = data}}});
  EXPECT_EQ(made.datasets.at(0).finalists, Study::every_setting) << "hindsight is about the whole grid";
  const Study& other = made.others.at(0).datasets.at(0);
  EXPECT_EQ(other.finalists, 1U) << "the matrix shows what was tuned";
  EXPECT_TRUE(other.in_heats);
  EXPECT_FALSE(made.datasets.at(0).in_heats) << "its page shows how every setting tuned";
  std::set<std::string> names;
  for (const Contender& each : other.contenders) names.insert(each.name);
  EXPECT_EQ(names.size(), 7U);
  for (const std::string policy : {"gob.lin.macro", "gob.lin.block"}) {
    for (const auto way : {by_number, by_size}) EXPECT_TRUE(names.contains(policy + std::string(way))) << policy << way;
    for (const auto way : {by_number_balanced, by_size_balanced}) {
      EXPECT_FALSE(names.contains(policy + std::string(way))) << policy << way;
    }
  }
}

TEST(Paper, cluster_sizes_are_read_both_ways_with_both_kinds_of_clusters) {
  const Plan made = plan({.lastfm = std::make_shared<const data::Dataset>(small_data())});
  std::set<std::string> names;
  for (const Contender& each : made.datasets.at(0).contenders) {
    names.insert(each.name);
    for (const Grouping& grouping : each.groupings) {
      EXPECT_EQ(grouping.balanced, each.name.find("balanced") != std::string::npos) << each.name;
    }
  }
  for (const std::string policy : {"gob.lin.macro", "gob.lin.block"}) {
    for (const auto way : {by_number, by_size, by_number_balanced, by_size_balanced}) {
      EXPECT_TRUE(names.contains(policy + std::string(way))) << policy << way;
    }
  }
  EXPECT_EQ(name_of(Grouping{.clusters = 50, .balanced = true}), "50 clusters (balanced)");
}

}  // namespace paper_test
}  // namespace goblin::experiment::paper
