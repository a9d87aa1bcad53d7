#include "goblin/experiment/cell.hpp"

#include "checked_file.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/experiment/cell_runner.hpp"
#include "goblin/world/cliques.hpp"
#include "temporary_folder.hpp"

#include <atomic>
#include <filesystem>
#include <iterator>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::experiment {
namespace cell_test {

using ::testing::HasSubstr;

Condition small_cliques() {
  return {.key = "small/cliques", .world_at = [](std::uint64_t seed) -> std::shared_ptr<const world::World> {
            return std::make_shared<world::Cliques>(world::CliquesOptions{
                .cliques = 3, .size = 4, .dimension = 3, .graph_noise = 4.0, .payoff_noise = 0.2, .seed = seed});
          }};
}

std::vector<Cell> all_policies_at(const Condition& condition, std::uint64_t rounds) {
  std::vector<Cell> cells;
  for (const Policy policy : all_policies) {
    for (const std::uint64_t seed : {1U, 2U}) {
      Setting setting{.policy = policy, .alpha = 0.2, .scale = 2.0};
      if (uses_clusters(policy)) setting.grouping = {.clusters = 3};
      cells.push_back({&condition, setting, seed, rounds});
    }
  }
  return cells;
}

std::vector<std::string> files_of(const CellStore& store, std::span<const Cell> cells) {
  std::vector<std::string> contents;
  for (const Cell& cell : cells) contents.push_back(content_of(store.path(cell)));
  return contents;
}

TEST(CellStore, gives_back_what_was_saved) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::linucb_ind, .alpha = 0.25}, 7, 20};
  EXPECT_FALSE(store.load(cell));
  const Outcome outcome{
      .curve = {{10, 1.5, 0.25, 3.0, {}, {}}, {20, 2.5, 0.5, 4.0, 1.0 / 3.0, 100.0}}, .seconds = 0.125, .bytes = 4096};
  store.save(cell, outcome);
  const auto found = store.load(cell);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->curve.size(), 2U);
  EXPECT_EQ(found->last().round, 20U);
  EXPECT_EQ(found->normalized_reward(), 2.0);
  EXPECT_EQ(found->curve[0].regret, std::nullopt);
  EXPECT_EQ(found->last().regret, 1.0 / 3.0);
  EXPECT_EQ(found->last().regret_bound, 100.0);
  EXPECT_EQ(found->last().log_determinant, 4.0);
  EXPECT_EQ(found->seconds, 0.125);
  EXPECT_EQ(found->bytes, 4096U);
}

TEST(CellStore, other_cells_are_other_files) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  Condition elsewhere = condition;
  elsewhere.key = "small/others";
  const Cell cell{&condition, {.policy = Policy::gob_lin_macro, .alpha = 0.25, .grouping = {.clusters = 3}}, 7, 20};
  std::vector<Cell> others(10, cell);
  others[0].condition = &elsewhere;
  others[1].setting.policy = Policy::gob_lin_block;
  others[2].setting.alpha = 0.26;
  others[3].setting.scale = 3.0;
  others[4].setting.grouping = {.cluster_size = 3};
  others[5].seed = 8;
  others[6].rounds = 21;
  others[7].setting.printed_bound = true;
  others[8].setting.exploration = Exploration::thompson(0.25);
  others[9].setting.exploration = Exploration::thompson(0.25).mixed(0.1);
  std::set<std::string> names = {store.path(cell).string()};
  for (const Cell& other : others) names.insert(store.path(other).string());
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(store.path(others[9]).string().find_first_of(":+"), std::string::npos);
}

/// Every option that a setting has, set to something else, one at a time.
std::vector<std::function<void(Setting&)>> changes_of_settings() {
  return {[](Setting& s) { s.coupling = 0.0; },
          [](Setting& s) { s.laplacian = Laplacian::normalized; },
          [](Setting& s) { s.hub.weight = 0.5; },
          [](Setting& s) { s.hub.ridge = 0.5; },
          [](Setting& s) { s.hash.buckets = 5; },
          [](Setting& s) { s.hash.seed = 5; },
          [](Setting& s) { s.club.graph = ClubGraph::complete; },
          [](Setting& s) { s.club.graph = ClubGraph::random; },
          [](Setting& s) { s.club.separation = 5.0; },
          [](Setting& s) { s.club.seed = 5; },
          [](Setting& s) { s.dynucb.clusters = 5; },
          [](Setting& s) { s.dynucb.seed = 5; },
          [](Setting& s) { s.forgetting.window = 5; },
          [](Setting& s) { s.forgetting.discount = 0.5; },
          [](Setting& s) { s.grouping.clusters = 5; },
          [](Setting& s) { s.grouping.cluster_size = 5; },
          [](Setting& s) { s.exploration = Exploration::square_cb(5.0); },
          [](Setting& s) { s.exploration = Exploration::greedy(); },
          [](Setting& s) { s.exploration = Exploration::printed_bound({.noise = 5.0}); },
          [](Setting& s) { s.printed_bound = true; }};
}

TEST(CellStore, every_option_of_a_setting_has_a_place_in_the_path) {
  const auto changes = changes_of_settings();
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  Cell cell{&condition, {.policy = Policy::gob_lin, .alpha = 0.25}, 7, 20};
  std::set<std::string> names = {store.path(cell).string()};
  EXPECT_TRUE(store.path(cell).string().ends_with("gob.lin-alpha-0.25-scale-1/rounds-20-seed-7.cell"))
      << "defaults stay out of the path";
  for (const auto& change : changes) {
    Cell changed = cell;
    change(changed.setting);
    EXPECT_NE(changed.setting, cell.setting);
    names.insert(store.path(changed).string());
  }
  // All at once, and each left out of that.
  for (std::size_t left_out = 0; left_out <= changes.size(); ++left_out) {
    Cell changed = cell;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (k != left_out) changes[k](changed.setting);
    }
    names.insert(store.path(changed).string());
  }
  EXPECT_EQ(names.size(), 1 + changes.size() + 1 + changes.size() - 4) << "a later rule or graph hides an earlier one";
}

TEST(CellStore, a_damaged_or_misplaced_file_is_as_good_as_none) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const auto cells = all_policies_at(condition, 30);
  ASSERT_TRUE(run_cells(cells, store, {}));
  const std::string good = content_of(store.path(cells[0]));
  write_file(store.path(cells[0]), good.substr(0, good.size() - 3));
  EXPECT_FALSE(store.load(cells[0]));
  std::string altered = good;
  altered[good.size() / 2] ^= 1;
  write_file(store.path(cells[0]), altered);
  EXPECT_FALSE(store.load(cells[0]));
  write_file(store.path(cells[0]), content_of(store.path(cells[1])));
  EXPECT_FALSE(store.load(cells[0]));
  ASSERT_TRUE(run_cells(cells, store, {}));
  EXPECT_EQ(content_of(store.path(cells[0])), good);
}

TEST(CellStore, what_another_goblin_found_is_not_taken) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::linucb_ind, .alpha = 0.25}, 7, 20};
  store.save(cell, {.curve = {{20, 2.5, 0.5, 4.0, {}, {}}}, .seconds = {}, .bytes = {}});
  ASSERT_TRUE(store.load(cell));

  // The same file as an older goblin would have written it.
  constexpr FileKind cell_file{"cell", {'G', 'O', 'B', 'C', 'E', 'L', 'L', '\n'}, 1};
  const std::string bytes = content_of(store.path(cell));
  const auto content = checked_content(bytes, "cell", cell_file).bytes;
  BinaryReader in(content, "cell");
  const std::string key(in.text());
  const auto rest = content.last(in.left());
  const auto rewrite = [&](const std::string& new_key) {
    write_checked_file(store.path(cell), cell_file, [&](BinaryWriter& out) {
      out.text(new_key);
      for (const char byte : rest) out.number(static_cast<std::uint8_t>(byte));
    });
  };
  const std::string name = "small/cliques/linucb-ind-alpha-0.25-scale-1/rounds-20-seed-7";
  const std::string version = "goblin " GOBLIN_VERSION ", ";
  ASSERT_TRUE(key.starts_with(version)) << key;
  const std::string simulation = key.substr(version.size(), key.find(": ") - version.size());
  ASSERT_EQ(key, version + simulation + ": " + name);
  ASSERT_TRUE(simulation.starts_with("simulation ")) << key;
  for (const std::string& other : {name, "goblin 0.0.1, " + simulation + ": " + name, version + "simulation 0: " + name,
                                   simulation + ": " + name, version + name}) {
    rewrite(other);
    EXPECT_FALSE(store.load(cell)) << other;
  }
  rewrite(key);
  EXPECT_TRUE(store.load(cell));
}

TEST(CellStore, damaged_costs_are_not_known) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::linucb_ind, .alpha = 0.25}, 7, 20};
  store.save(cell, {.curve = {{20, 2.5, 0.5, 4.0, {}, {}}}, .seconds = 12.5, .bytes = 1000});
  ASSERT_EQ(store.load(cell)->seconds, 12.5);
  auto file = store.path(cell);
  file.replace_extension(".costs");
  const std::string good = content_of(file);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(file, good.substr(0, size));
    ASSERT_TRUE(store.load(cell));
    EXPECT_EQ(store.load(cell)->seconds, std::nullopt) << size << " of " << good.size() << " bytes";
  }
  std::string altered = good;
  altered.back() ^= 1;
  write_file(file, altered);
  EXPECT_EQ(store.load(cell)->seconds, std::nullopt);
}

TEST(CellStore, says_so_if_nothing_can_be_written) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  EXPECT_THROW(CellStore(folder / "file/cells"), std::system_error);
}

TEST(RunCells, the_files_do_not_depend_on_threads_or_on_a_stop) {
  const TemporaryFolder folder;
  const Condition condition = small_cliques();
  const auto cells = all_policies_at(condition, 200);
  const CellStore whole(folder / "whole");
  ASSERT_TRUE(run_cells(cells, whole, {.threads = 1}));

  const CellStore stopped(folder / "stopped");
  std::atomic<int> rounds = 0;
  EXPECT_FALSE(run_cells(cells, stopped, {.threads = 3, .keep_going = [&] { return ++rounds < 900; }}));
  std::size_t kept = 0;
  for (const Cell& cell : cells) kept += stopped.load(cell) ? 1 : 0;
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, cells.size());

  std::atomic<std::size_t> found = 0;
  std::atomic<std::size_t> seen = 0;
  ASSERT_TRUE(run_cells(cells, stopped, {.threads = 2, .on_cell = [&](bool was_there) {
                                           ++seen;
                                           found += was_there ? 1 : 0;
                                         }}));
  EXPECT_EQ(seen, cells.size());
  EXPECT_EQ(found, kept);
  EXPECT_EQ(files_of(stopped, cells), files_of(whole, cells));
}

TEST(RunCells, every_cell_is_that_of_one_shard) {
  const TemporaryFolder folder;
  const Condition condition = small_cliques();
  const auto cells = all_policies_at(condition, 50);
  const CellStore whole(folder / "whole");
  ASSERT_TRUE(run_cells(cells, whole, {}));

  const CellStore shared(folder / "shared");
  std::size_t ran = 0;
  for (const std::size_t index : {2U, 0U, 1U}) {
    std::size_t own = 0;
    std::size_t missing = 0;
    const auto outcomes = run_cells(cells, shared,
                                    {.shard = {.index = index, .count = 3},
                                     .on_cell = [&](bool found) { own += found ? 0 : 1; },
                                     .on_missing = [&](std::span<const Cell> left) { missing = left.size(); }});
    EXPECT_GE(own, cells.size() / 3);
    EXPECT_LE(own, cells.size() / 3 + 1);
    ran += own;
    EXPECT_EQ(missing, cells.size() - ran);
    EXPECT_EQ(outcomes.has_value(), index == 1U) << "the last one has all of them";
  }
  EXPECT_EQ(ran, cells.size());
  EXPECT_EQ(files_of(shared, cells), files_of(whole, cells));
}

TEST(RunCells, whose_a_cell_is_does_not_depend_on_what_is_there) {
  const TemporaryFolder folder;
  const Condition condition = small_cliques();
  const auto cells = all_policies_at(condition, 20);
  const CellStore store(folder / "cells");
  const auto done_by = [&](const Shard& shard) {
    EXPECT_FALSE(run_cells(cells, store, {.shard = shard}));
    std::size_t there = 0;
    for (const Cell& cell : cells) there += store.load(cell) ? 1 : 0;
    return there;
  };
  EXPECT_EQ(done_by({.index = 0, .count = 2}), cells.size() / 2);
  EXPECT_EQ(done_by({.index = 0, .count = 2}), cells.size() / 2) << "its part was done";
  EXPECT_THROW((void)run_cells(cells, store, {.shard = {.index = 2, .count = 2}}), std::invalid_argument);
  EXPECT_THROW((void)run_cells(cells, store, {.shard = {.index = 0, .count = 0}}), std::invalid_argument);
}

TEST(RunCells, cells_may_run_elsewhere) {
  const TemporaryFolder folder;
  const Condition condition = small_cliques();
  const auto cells = all_policies_at(condition, 60);
  const CellStore whole(folder / "whole");
  ASSERT_TRUE(run_cells(cells, whole, {}));

  const CellRunner runner({condition});
  const CellStore store(folder / "elsewhere");
  std::size_t limit = 5;
  std::size_t counted = 0;
  const RunOptions options{.on_cell = [&](bool found) { counted += found ? 0 : 1; },
                           .elsewhere =
                               [&](std::span<const Cell> sent, const RunOptions::Done& done) {
                                 for (std::size_t k = 0; k < std::min(limit, sent.size()); ++k) {
                                   const auto outcome = runner.run(packed(sent[k]), {});
                                   done(k, unpacked_outcome(outcome.value(), sent[k]));
                                 }
                                 return true;
                               }};
  EXPECT_FALSE(run_cells(cells, store, options)) << "not all of them came back";
  EXPECT_EQ(counted, 5U);
  limit = cells.size();
  ASSERT_TRUE(run_cells(cells, store, options));
  EXPECT_EQ(counted, cells.size()) << "those that were there are not run again";
  EXPECT_EQ(files_of(store, cells), files_of(whole, cells));
}

TEST(PackedCell, is_the_same_cell_there_or_refused) {
  const Condition condition = small_cliques();
  Condition other = condition;
  other.key = "other/data";
  const std::vector<Condition> there = {other, condition};
  Cell cell{&condition, {.policy = Policy::gob_lin, .alpha = 1.0 / 3.0}, 7, 20};
  for (const auto& change : changes_of_settings()) {
    change(cell.setting);
    const Cell copy = unpacked_cell(packed(cell), there);
    EXPECT_EQ(copy.setting, cell.setting);
    EXPECT_EQ(copy.condition, &there[1]);
    EXPECT_EQ(copy.seed, cell.seed);
    EXPECT_EQ(copy.rounds, cell.rounds);
  }
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of([&] { (void)unpacked_cell(packed(cell), std::span(there).first(1)); }),
              HasSubstr("small/cliques, which is not among those here: are the data and the options the same?"));
  EXPECT_THAT(message_of([&] { (void)unpacked_cell("", there); }), HasSubstr("a cell from elsewhere"));
  const Outcome outcome{.curve = {{20, 2.5, 0.5, 4.0, {}, 1.0}}, .seconds = 0.5, .bytes = 17};
  const Outcome copy = unpacked_outcome(packed(cell, outcome), cell);
  EXPECT_EQ(copy.last().regret_bound, 1.0);
  EXPECT_EQ(copy.last().regret, std::nullopt);
  EXPECT_EQ(copy.seconds, 0.5);
  EXPECT_EQ(copy.bytes, 17U);
  Cell another = cell;
  another.seed = 8;
  EXPECT_THAT(message_of([&] { (void)unpacked_outcome(packed(cell, outcome), another); }), HasSubstr("is for '"));
  std::string damaged = packed(cell, outcome);
  damaged.back() ^= 1;
  EXPECT_THAT(message_of([&] { (void)unpacked_outcome(damaged, cell); }), HasSubstr("was altered"));
}

/// Two processes at once: files are written beside and renamed, so that whoever reads finds a whole one.
TEST(CellStore, processes_may_save_the_same_cell_at_the_same_time) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::linucb_ind, .alpha = 0.25}, 7, 20};
  Outcome outcome{.curve = std::vector<Point>(2000, Point{.round = 1}), .seconds = 0.125, .bytes = 4096};
  outcome.curve.back().round = 20;
  std::vector<pid_t> children;
  for (int k = 0; k < 2; ++k) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int time = 0; time < 100; ++time) store.save(cell, outcome);
      ::_exit(0);
    }
    children.push_back(child);
  }
  while (!store.load(cell)) {
  }
  std::size_t torn = 0;
  for (int time = 0; time < 2000; ++time) torn += store.load(cell) ? 0 : 1;
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(torn, 0U);
  const auto files = std::distance(std::filesystem::directory_iterator(store.path(cell).parent_path()), {});
  EXPECT_EQ(files, 2) << "the cell and its costs; nothing is left beside them";
}

TEST(RunCells, a_scale_is_that_of_the_contexts) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::gob_lin, .alpha = 0.2, .scale = 2.0}, 1, 100};
  const auto outcome = run_cells(std::span(&cell, 1), store, {});
  ASSERT_TRUE(outcome);

  const auto world = condition.world_at(1);
  auto bandit = Bandit::gob_lin(world->graph(), {.dimension = 3, .alpha = 0.2});
  double normalized = 0.0;
  for (std::uint64_t t = 0; t < 100; ++t) {
    auto round = world->round(t);
    for (double& number : round.contexts) number *= 2.0;
    const auto arm = bandit.select(round.user, {round.contexts, 3}).arm;
    bandit.update(round.user, round.context(arm), round.payoffs[arm]);
    normalized += round.payoffs[arm] - round.average_payoff();
  }
  EXPECT_NEAR(outcome->front().normalized_reward(), normalized, 1e-9);
}

TEST(RunCells, the_printed_bound_runs_with_the_true_norm) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Condition condition = small_cliques();
  const Cell cell{&condition, {.policy = Policy::gob_lin, .printed_bound = true}, 1, 60};
  const auto outcome = run_cells(std::span(&cell, 1), store, {});
  ASSERT_TRUE(outcome);
  const Point& last = outcome->front().last();
  EXPECT_GT(last.regret.value(), 0.0);
  EXPECT_GT(last.regret_bound.value(), last.regret.value());

  const auto world = condition.world_at(1);
  const auto truth = world->truth().value();
  auto bandit = Bandit::gob_lin(world->graph(), {.dimension = 3});
  const double smoothness = bandit.smoothness(truth.user_vectors);
  EXPECT_DOUBLE_EQ(last.regret_bound.value(),
                   regret_bound(60, last.log_determinant, 1.0,
                                {.noise = 0.2, .delta = 0.1, .context_length = 1.0, .smoothness = smoothness}));
  const Cell shared{&condition, {.policy = Policy::linucb_sin, .printed_bound = true}, 1, 60};
  EXPECT_THROW((void)run_cells(std::span(&shared, 1), store, {}), std::invalid_argument);
}

}  // namespace cell_test
}  // namespace goblin::experiment
