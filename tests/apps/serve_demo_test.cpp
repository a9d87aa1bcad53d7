#include "serve_demo.hpp"

#include "goblin/graph/edge_file.hpp"
#include "temporary_folder.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::app {
namespace serve_demo_test {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ServeDemo, has_four_groups_of_friends_with_a_taste_each) {
  const DemoWorld world = demo_world();
  ASSERT_EQ(world.graph.node_count(), 100);
  EXPECT_EQ(world.graph.names()[0], "north-01");
  EXPECT_EQ(world.graph.names()[99], "west-25");
  const std::size_t d = world.items.dimension;
  ASSERT_EQ(world.tastes.size(), 100 * d);
  std::size_t friends = 0;
  std::set<double> tastes;
  for (std::size_t user = 0; user < 100; ++user) {
    for (const NodeId other : world.graph.neighbours(user)) friends += other / 25 == user / 25 ? 1 : 0;
    tastes.insert(world.tastes[user * d]);
  }
  EXPECT_EQ(tastes.size(), 4);
  EXPECT_GT(friends, 9 * world.graph.edge_count() * 2 / 10);
}

TEST(ServeDemo, has_films_whose_contexts_have_unit_length) {
  const data::Items items = demo_world().items;
  ASSERT_EQ(items.names.size(), 60);
  EXPECT_EQ(items.names[59], "film-60");
  ASSERT_EQ(items.numbers.size(), 60 * items.dimension);
  for (std::size_t film = 0; film < 60; ++film) {
    const auto context = std::span(items.numbers).subspan(film * items.dimension, items.dimension);
    EXPECT_NEAR(std::inner_product(context.begin(), context.end(), context.begin(), 0.0), 1.0, 1e-12);
  }
}

TEST(ServeDemo, visitors_go_when_nobody_answers_them) {
  const DemoTraffic traffic(demo_world(), "http://127.0.0.1:1");  // a port that nothing listens on
}

/// TMPDIR, until the end of the test.
class ServeDemoFolder : public ::testing::Test {
 protected:
  static void put(const std::string& folder) { ASSERT_EQ(::setenv("TMPDIR", folder.c_str(), 1), 0); }
  ~ServeDemoFolder() override {
    if (before_ == nullptr) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", text_.c_str(), 1);
    }
  }

 private:
  const char* before_ = std::getenv("TMPDIR");
  std::string text_ = before_ == nullptr ? "" : before_;
};

TEST_F(ServeDemoFolder, has_the_world_in_files_and_is_gone_at_the_end) {
  const TemporaryFolder folder;
  put(folder.path());
  const DemoWorld world = demo_world();
  {
    const DemoFolder demo(world);
    const Graph graph = read_edge_file(demo.graph());
    EXPECT_EQ(graph.node_count(), world.graph.node_count());
    EXPECT_EQ(graph.edge_count(), world.graph.edge_count());
    EXPECT_EQ(data::read_items(demo.items()).numbers, world.items.numbers);
    std::filesystem::create_directory(demo.store());
    write_file(std::filesystem::path(demo.store()) / "log.sqlite", "something");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(ServeDemoFolder, says_where_there_can_be_none) {
  const TemporaryFolder folder;
  put(folder / "nothing");
  EXPECT_THAT([] { const DemoFolder demo(demo_world()); }, ThrowsMessage<std::runtime_error>(HasSubstr("TMPDIR")));
}

}  // namespace serve_demo_test
}  // namespace goblin::app
