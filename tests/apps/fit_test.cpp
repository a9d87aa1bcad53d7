#include "fit.hpp"

#include "bandit/scenario.hpp"
#include "goblin/error.hpp"
#include "replay.hpp"
#include "support/command.hpp"
#include "support/events_file.hpp"
#include "support/tea_and_soup.hpp"
#include "support/three_friends.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::app {
namespace fit_test {

using test::EventsFileWriter;
using ::testing::HasSubstr;
using ::testing::Not;

Bandit make(Policy policy = Policy::gob_lin) { return test::bandit_of_three(policy); }

struct Fitted {
  std::string error;
  FitSummary summary;
};

Fitted run(Bandit& bandit, const std::string& log, FitOptions options = {},
           const std::shared_ptr<const data::Items>& items = nullptr) {
  Fitted result;
  try {
    fit(bandit, format_of(bytes_of(log), bandit.options().dimension, "log", items), "log", options, result.summary);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return result;
}

std::string error_of(const std::string& log) {
  auto bandit = make();
  return run(bandit, log).error;
}

/// Some thousand lines of rewards, with lines between them that hold none.
std::string long_log(std::size_t lines) {
  std::string log;
  for (std::size_t k = 0; k < lines; ++k) {
    if (k % 10 == 3) {
      log += k % 20 == 3 ? "\n" : "{\"user\": \"ann\", \"contexts\": [[1, 0]]}\n";
      continue;
    }
    const std::string user = k % 7 == 0 ? fmt::format("new {}", k % 5) : k % 3 == 0 ? "ann" : "cat";
    log += fmt::format("{{\"user\": \"{}\", \"context\": [{}, {}], \"reward\": {}}}\n", user, std::sin(k),
                       std::cos(3 * k), std::sin(7 * k));
  }
  return log;
}

// A log longer than the pieces it is read in, on any number of threads, in batches of any size, is what replay learns.
TEST(Fit, learns_what_replay_learns) {
  const std::string log = long_log(40'000);
  ASSERT_GT(log.size(), 2'000'000);
  for (const Policy policy : all_policies) {
    auto replayed = make(policy);
    std::istringstream in(log);
    std::ostringstream out;
    ReplaySummary expected;
    replay(replayed, in, out, {}, expected);
    for (const std::size_t batch : {0, 1000, 33'333}) {
      for (const std::size_t threads : {1, 3}) {
        auto bandit = make(policy);
        const Fitted fitted = run(bandit, log, {.batch = batch, .threads = threads});
        EXPECT_EQ(fitted.error, "");
        EXPECT_EQ(fitted.summary.count, 40'000);
        EXPECT_EQ(fitted.summary.unit, "line");
        EXPECT_EQ(fitted.summary.learned, 36'000);
        EXPECT_EQ(fitted.summary.passed_over, 2'000);
        EXPECT_EQ(fitted.summary.new_users, 5);
        ASSERT_EQ(bandit.user_count(), replayed.user_count());
        ASSERT_EQ(bandit.rewards(), replayed.rewards());
        for (NodeId user = 0; user < bandit.user_count(); ++user) {
          for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_NEAR(bandit.mean(user)[k], replayed.mean(user)[k], 1e-8);
            EXPECT_NEAR(bandit.covariance(user)[3 * k], replayed.covariance(user)[3 * k], 1e-8);
          }
        }
      }
    }
  }
}

// Several processes that each learn a part of a log make the bandit of the whole log: the same evidence to the bit,
// because all rewards of a user are in one part.
TEST(Fit, shards_of_a_log_add_up_to_all_of_it) {
  const std::string log = long_log(4'000);
  for (const Policy policy : policies_with_fixed_nodes()) {
    auto whole = make(policy);
    ASSERT_EQ(run(whole, log).error, "");
    const Graph whole_graph = whole.graph();
    for (const std::size_t count : {1, 2, 5}) {
      std::vector<Bandit> parts;
      std::size_t learned = 0;
      for (std::size_t index = 0; index < count; ++index) {
        parts.push_back(make(policy));
        const Fitted fitted =
            run(parts.back(), log, {.batch = 100 + 500 * index, .shard = {.index = index, .count = count}});
        EXPECT_EQ(fitted.error, "");
        EXPECT_EQ(fitted.summary.count, 4'000);
        EXPECT_EQ(fitted.summary.learned + fitted.summary.others, 3'600);
        EXPECT_EQ(fitted.summary.new_users, 5);
        learned += fitted.summary.learned;
      }
      EXPECT_EQ(learned, 3'600);
      Bandit merged = std::move(parts.front());
      for (std::size_t index = 1; index < count; ++index) merged.merge(parts[index]);
      ASSERT_EQ(merged.user_count(), whole.user_count());
      for (NodeId user = 0; user < whole.user_count(); ++user) {
        EXPECT_EQ(merged.user(whole_graph.names()[user]), user);
        EXPECT_EQ(merged.evidence(user).count, whole.evidence(user).count);
        EXPECT_TRUE(std::ranges::equal(merged.evidence(user).contexts, whole.evidence(user).contexts));
        EXPECT_TRUE(std::ranges::equal(merged.evidence(user).rewards, whole.evidence(user).rewards));
        for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(merged.mean(user)[k], whole.mean(user)[k], 1e-8);
      }
    }
  }
}

// With gob.lin.block nobody learns from another cluster, so that a shard believes of its clusters what the whole does.
TEST(Fit, a_shard_has_whole_clusters) {
  const std::string log = long_log(2'000);
  auto whole = make(Policy::gob_lin_block);
  ASSERT_EQ(run(whole, log).error, "");
  for (std::size_t index = 0; index < 2; ++index) {
    auto part = make(Policy::gob_lin_block);
    ASSERT_EQ(run(part, log, {.shard = {.index = index, .count = 2}}).error, "");
    for (NodeId user = 0; user < whole.user_count(); ++user) {
      const bool is_own = *part.cluster(user) % 2 == index;
      EXPECT_EQ(part.evidence(user).count, is_own ? whole.evidence(user).count : 0);
      EXPECT_NEAR(part.mean(user)[0], is_own ? whole.mean(user)[0] : 0.0, 1e-12);
    }
  }
}

TEST(Fit, every_shard_stops_at_a_bad_line) {
  const std::string log = long_log(1'000) + "{\"user\": \"ann\", \"context\": [1e9, 0], \"reward\": 1}\n";
  for (std::size_t index = 0; index < 3; ++index) {
    auto part = make();
    const Fitted fitted = run(part, log, {.shard = {.index = index, .count = 3}});
    EXPECT_THAT(fitted.error, HasSubstr("log:1001: "));
    EXPECT_EQ(fitted.summary.count, 1'000);
    EXPECT_EQ(fitted.summary.learned + fitted.summary.others, 900);
  }
}

TEST(Fit, shards_that_could_not_be_merged_are_refused) {
  const auto refusal = [](Bandit bandit, Shard shard) { return run(bandit, long_log(10), {.shard = shard}).error; };
  EXPECT_THAT(refusal(make(), {.index = 2, .count = 2}), HasSubstr("shard: 3/2 (there is no such part)"));
  EXPECT_THAT(refusal(make(Policy::club), {.count = 2}),
              HasSubstr("shard: 1/2 of a log for club (must be 1/1: its clusters depend on the order of all rewards)"));
  EXPECT_THAT(
      refusal(Bandit::gob_lin(test::three_friends(), {.dimension = 2, .forgetting = {.window = 10}}), {.count = 2}),
      HasSubstr("with a window or a discount (must be 1/1"));
  auto taught = make();
  taught.update("ann", std::vector<double>{1.0, 0.0}, 1.0);
  EXPECT_THAT(
      refusal(taught, {.index = 1, .count = 3}),
      HasSubstr("shard: 2/3 of a log for a bandit that has learned 1 rewards already (must be one that has learned "
                "none: merging would count them 3 times"));
}

TEST(Fit, small_batches_and_logs_without_an_end_of_line) {
  const std::string log =
      "{\"user\": \"ann\", \"context\": [1, 0], \"reward\": 1}\n\n"
      "{\"user\": \"zoe\", \"context\": [0, 1], \"reward\": 1}\r\n"
      "{\"user\": \"zoe\", \"context\": [0, 1], \"reward\": 0.5}";
  for (const std::size_t batch : {1, 2, 3}) {
    auto bandit = make();
    const Fitted fitted = run(bandit, log, {.batch = batch});
    EXPECT_EQ(fitted.error, "");
    EXPECT_EQ(fitted.summary.count, 4);
    EXPECT_EQ(bandit.rewards(), 3);
    EXPECT_EQ(bandit.evidence("zoe").count, 2);
  }
  auto bandit = make();
  EXPECT_EQ(run(bandit, "").error, "");
  EXPECT_EQ(run(bandit, "\n \n").summary.count, 2);
  EXPECT_EQ(bandit.rewards(), 0);
}

TEST(Fit, learns_what_was_shown) {
  const std::string log =
      "{\"user\": \"ann\", \"items\": [\"tea\", 7], \"action\": 1, \"reward\": 1, \"probability\": 0.5}\n"
      "{\"user\": \"zoe\", \"contexts\": [[1, 0], [3, 1]], \"action\": 0, \"reward\": 0.5}\n"
      "{\"user\": \"ann\", \"items\": [\"tea\", \"soup\"]}\n"
      "{\"user\": \"bob\", \"item\": \"soup\", \"reward\": -1}\n";
  auto expected = make();
  expected.update("ann", std::vector<double>{-1.0, 0.5}, 1.0);
  expected.add_user("zoe");
  expected.update("zoe", std::vector<double>{1.0, 0.0}, 0.5);
  expected.update("bob", std::vector<double>{0.0, 2.0}, -1.0);
  for (const std::size_t threads : {1, 2}) {
    auto bandit = make();
    const Fitted fitted = run(bandit, log, {.threads = threads}, test::tea_and_soup());
    EXPECT_EQ(fitted.error, "");
    EXPECT_EQ(fitted.summary.learned, 3);
    EXPECT_EQ(fitted.summary.passed_over, 1);
    EXPECT_EQ(fitted.summary.new_users, 1);
    for (const char* user : {"ann", "bob", "cat", "zoe"}) {
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(bandit.mean(user)[k], expected.mean(user)[k], 1e-12);
    }
  }
  auto bandit = make();
  EXPECT_THAT(
      run(bandit, "\n" + log + "{\"user\": \"bob\", \"item\": \"cake\", \"reward\": -1}\n", {}, test::tea_and_soup())
          .error,
      HasSubstr("log:6: 'item' is 'cake', which is not in items.tsv (must be one of its 3 items"));
  auto longer = Bandit::gob_lin(test::three_friends(), {.dimension = 3});
  EXPECT_EQ(run(longer, log, {}, test::tea_and_soup()).error,
            "--items: items.tsv has 2 numbers for each item (must be the dimension, 3)");
}

// A bad line anywhere: what comes before it is learned, nothing of what comes after it, and its user does not join.
TEST(Fit, learns_up_to_a_bad_line) {
  const std::string log = long_log(40'000);
  const std::vector<std::string> bad = {"oops", R"({"user": "newbie", "context": [1e9, 0], "reward": 1})",
                                        R"({"user": "ann", "context": [1e9, 0], "reward": 1})",
                                        R"({"user": "ann", "context": [1, 0], "reward": 1e300})"};
  for (const std::string& line : bad) {
    for (const std::size_t lines : {1, 25'000}) {
      std::size_t at = 0;
      for (std::size_t k = 0; k < lines; ++k) at = log.find('\n', at) + 1;
      const std::string before = log.substr(0, at);
      auto expected = make();
      ASSERT_EQ(run(expected, before).error, "");
      for (const std::size_t batch : {0, 7}) {
        auto bandit = make();
        const Fitted fitted = run(bandit, before + line + "\n" + log.substr(at), {.batch = batch, .threads = 2});
        EXPECT_THAT(fitted.error, HasSubstr(fmt::format("log:{}: ", lines + 1)));
        EXPECT_EQ(fitted.summary.count, lines);
        EXPECT_EQ(bandit.rewards(), expected.rewards());
        EXPECT_EQ(bandit.user_count(), expected.user_count());
        EXPECT_NEAR(bandit.mean("ann")[0], expected.mean("ann")[0], 1e-9);
      }
    }
  }
}

TEST(Fit, names_the_line_and_the_reason) {
  EXPECT_THAT(error_of("\nnonsense\n"), HasSubstr("log:2: is not JSON: "));
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"context\": [1], \"reward\": 1}"),
            "log:1: context has 1 numbers (must be the dimension, 2)");
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"contexts\": [[1, 0]], \"rewards\": [1]}"),
              HasSubstr("log:1: has 'rewards', and does not say which of the candidates was shown"));
  EXPECT_THAT(error_of(std::string(3, '\0')), HasSubstr("log:1: is not JSON"));
}

TEST(Fit, users_without_names_go_by_their_numbers) {
  auto bandit = Bandit::gob_lin(Graph(2), {.dimension = 1});
  const Fitted fitted = run(bandit,
                            "{\"user\": 2, \"context\": [1], \"reward\": 1}\n"
                            "{\"user\": \"1\", \"context\": [1], \"reward\": 1}\n"
                            "{\"user\": 5, \"context\": [1], \"reward\": 1}\n");
  EXPECT_THAT(fitted.error, HasSubstr("log:3: 'user' is '5' (must be a whole number, at most 3"));
  EXPECT_EQ(bandit.user_count(), 3);
  EXPECT_EQ(bandit.rewards(), 2);
}

TEST(Fit, a_batch_that_does_not_fit_is_refused_before_anything_is_read) {
  const BanditOptions options{.dimension = 2, .engine = {.kind = EngineKind::dense}};
  BanditOptions limited = options;
  limited.engine.memory_limit = Bandit::estimate_bytes(Policy::gob_lin, test::three_friends(), {}, options) + 200'000;
  auto bandit = Bandit::gob_lin(test::three_friends(), limited);
  const std::string log = long_log(2000);
  const Fitted refused = run(bandit, log, {.batch = 1'000'000});
  EXPECT_THAT(refused.error, HasSubstr("--batch: 1000000 rewards of dimension 2 take 0.15 GB, more than the 0.00"));
  EXPECT_EQ(refused.summary.count, 0);
  EXPECT_EQ(bandit.rewards(), 0);
  const std::string fits = "what would fit: --batch ";
  const std::size_t at = refused.error.find(fits);
  ASSERT_NE(at, std::string::npos) << refused.error;
  const std::size_t batch = std::stoul(refused.error.substr(at + fits.size()));
  EXPECT_GT(batch, 1000);
  EXPECT_THAT(run(bandit, log, {.batch = batch + 1}).error, HasSubstr("--batch"));
  // A batch is no larger than the log.
  auto same = bandit;
  EXPECT_EQ(run(same, log.substr(0, log.find('\n', 3000) + 1), {.batch = 1'000'000, .log_bytes = 3000}).error, "");
  EXPECT_GT(same.rewards(), 10);
  EXPECT_EQ(run(bandit, log, {.batch = batch}).error, "");
  EXPECT_EQ(bandit.rewards(), 1800);
}

TEST(Fit, a_stop_keeps_whole_batches) {
  auto bandit = make();
  int asked = 0;
  const Fitted fitted = run(bandit, long_log(40'000), {.batch = 100, .keep_going = [&asked] { return ++asked < 20; }});
  EXPECT_EQ(fitted.error, "");
  EXPECT_GT(fitted.summary.learned, 0);
  EXPECT_LT(fitted.summary.learned, 10'000);
  EXPECT_EQ(fitted.summary.learned % 100, 0);
  EXPECT_EQ(bandit.rewards(), fitted.summary.learned);
  auto expected = make();
  std::istringstream lines(long_log(40'000));
  std::string head;
  std::string line;
  for (std::size_t k = 0; k < fitted.summary.count && std::getline(lines, line); ++k) head += line + "\n";
  ASSERT_EQ(run(expected, head).error, "");
  EXPECT_EQ(expected.rewards(), bandit.rewards());
  EXPECT_EQ(expected.user_count(), bandit.user_count());
}

std::string small_events_file() {
  EventsFileWriter file(2, true);
  file.names({"bob", "zoe"});
  file.rewards({0, 1, 0}, {1.0, 0.5, -1.0}, {1, 0, 0, 1, 2, 2});
  file.names({"ann"});
  file.rewards({2, 1}, {1.0, 1.0}, {0, 1, 1, 1});
  file.end(5);
  return file.bytes;
}

TEST(EventsFile, is_learned_as_json_lines_are) {
  auto expected = make();
  ASSERT_EQ(run(expected,
                "{\"user\": \"bob\", \"context\": [1, 0], \"reward\": 1}\n"
                "{\"user\": \"zoe\", \"context\": [0, 1], \"reward\": 0.5}\n"
                "{\"user\": \"bob\", \"context\": [2, 2], \"reward\": -1}\n"
                "{\"user\": \"ann\", \"context\": [0, 1], \"reward\": 1}\n"
                "{\"user\": \"zoe\", \"context\": [1, 1], \"reward\": 1}\n")
                .error,
            "");
  auto bandit = make();
  const Fitted fitted = run(bandit, small_events_file());
  EXPECT_EQ(fitted.error, "");
  EXPECT_EQ(fitted.summary.count, 5);
  EXPECT_EQ(fitted.summary.unit, "reward");
  EXPECT_EQ(fitted.summary.new_users, 1);
  EXPECT_EQ(bandit.to_bytes(), expected.to_bytes());
}

TEST(EventsFile, numbers_are_users_with_these_digits) {
  EventsFileWriter file(1, false);
  file.rewards({20, 10}, {1.0, 1.0}, {1, 1});
  file.end(2);
  Names names;
  for (const char* name : {"10", "20"}) names.insert(name);
  auto named = Bandit::linucb_ind(Graph(names, std::vector<Edge>{}), {.dimension = 1});
  EXPECT_EQ(run(named, file.bytes).error, "");
  EXPECT_EQ(named.evidence("10").count, 1);
  EXPECT_EQ(named.user_count(), 2);
  auto numbered = Bandit::linucb_ind(Graph(20), {.dimension = 1});
  EXPECT_EQ(run(numbered, file.bytes).error, "");
  EXPECT_EQ(numbered.user_count(), 21);
  EXPECT_EQ(numbered.evidence(10).count, 1);
  auto small = Bandit::linucb_ind(Graph(2), {.dimension = 1});
  EXPECT_THAT(run(small, file.bytes).error, HasSubstr("log: reward 1: 'user' is '20' (must be a whole number"));
}

TEST(EventsFile, bad_rewards_are_named) {
  EventsFileWriter file(2, true);
  file.names({"bob", "newbie"});
  file.rewards({0, 0}, {1.0, 1.0}, {1, 0, 0, 1});
  file.rewards({0, 1}, {1.0, 1.0}, {1, 0, std::numeric_limits<double>::quiet_NaN(), 1});
  file.end(4);
  auto bandit = make();
  const Fitted fitted = run(bandit, file.bytes);
  EXPECT_EQ(fitted.error, "log: reward 4: context[0]: nan (must be finite)");
  EXPECT_EQ(bandit.rewards(), 3);
  EXPECT_EQ(bandit.user_count(), 3);
}

// Every prefix of a file, and every file with one byte changed, is refused or stops at the last good block.
TEST(EventsFile, what_is_truncated_or_altered_is_noticed) {
  const std::string whole = small_events_file();
  for (std::size_t size = 8; size < whole.size(); ++size) {
    auto bandit = make();
    const Fitted fitted = run(bandit, whole.substr(0, size));
    EXPECT_THAT(fitted.error, HasSubstr("is truncated")) << size;
    EXPECT_TRUE(bandit.rewards() == 0 || bandit.rewards() == 3 || bandit.rewards() == 5);
    EXPECT_EQ(fitted.summary.count, bandit.rewards());
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    auto bandit = make();
    const Fitted fitted = run(bandit, changed);
    EXPECT_NE(fitted.error, "") << at;
    EXPECT_TRUE(bandit.rewards() == 0 || bandit.rewards() == 3 || bandit.rewards() == 5);
  }
  auto bandit = make();
  EXPECT_EQ(run(bandit, whole.substr(0, whole.size() - 28)).error, "log: is truncated (after reward 5)");
  EXPECT_EQ(bandit.rewards(), 5);
  EXPECT_EQ(error_of(whole + "x"), "log: was altered: bytes follow its end (after reward 5)");
}

TEST(EventsFile, what_its_checksums_do_not_show_is_noticed_too) {
  const auto with = [](auto add) {
    EventsFileWriter file(2, true);
    file.names({"bob"});
    add(file);
    file.end(1);
    return error_of(file.bytes);
  };
  const std::string inconsistent = "log: its content is inconsistent";
  EXPECT_EQ(with([](auto& file) { file.rewards({0}, {1.0}, {1, 2}); }), "");
  EXPECT_THAT(with([](auto& file) { file.rewards({1}, {1.0}, {1, 2}); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.rewards({0}, {1.0}, {1}); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.rewards({0, 0}, {1.0}, {1, 2}); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.rewards({}, {}, {}); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.block(2, "abc"); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.block(2, std::string(8, '\xff')); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.block(1, "abc"); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.names({""}); }), HasSubstr(inconsistent));
  EXPECT_THAT(with([](auto& file) { file.block(7, ""); }), HasSubstr(inconsistent));
  EXPECT_THAT(error_of(EventsFileWriter(2, true, 2).bytes), HasSubstr("is of version 2: this goblin reads version 1"));
  EXPECT_EQ(error_of(EventsFileWriter(3, true).bytes), "log: has contexts of 3 numbers (must be the dimension, 2)");
  EventsFileWriter numbered(2, false);
  numbered.names({"bob"});
  EXPECT_THAT(error_of(numbered.bytes), HasSubstr(inconsistent));
}

class FitCommand : public test::Command {
 protected:
  FitCommand() {
    write("edges.tsv", "ann\tbob\n");
    write("good.jsonl", good);
  }
  static constexpr const char* good =
      "{\"user\": \"ann\", \"context\": [1], \"reward\": 1}\n"
      "{\"user\": \"ann\", \"context\": [1], \"reward\": 1}\n"
      "{\"user\": \"ann\", \"context\": [1], \"reward\": 1}\n";
  const std::string fit = "fit --graph edges.tsv --dimension 1 --alpha 0";

  [[nodiscard]] std::size_t rewards_in(const std::string& model) const { return load(model).rewards(); }
  [[nodiscard]] Bandit load(const std::string& model) const { return Bandit::from_bytes(read(model)); }
};

TEST_F(FitCommand, learns_and_saves) {
  const auto outcome = goblin(fit + " --events good.jsonl --save model.goblin");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output,
            "gob.lin: 3 rewards learned\n2 users (0 new), 2 nodes in 1 dense and 0 sparse components, 0.0 MB\n");
  EXPECT_EQ(rewards_in("model.goblin"), 3);
  const auto more = goblin("fit --load model.goblin --events - --save model.goblin --json --threads 2 <good.jsonl");
  EXPECT_EQ(more.code, 0) << more.output;
  EXPECT_THAT(more.output, HasSubstr(R"({"policy":"gob.lin","lines":3,"learned":3,"passed_over":0,"users":2)"));
  EXPECT_EQ(rewards_in("model.goblin"), 6);
}

TEST_F(FitCommand, shards_are_learned_apart_and_merged) {
  write("log.jsonl", std::string(good) + "{\"user\": \"bob\", \"context\": [1], \"reward\": 0}\n");
  const auto one = goblin(fit + " --events log.jsonl --save one.goblin --shard 1/2");
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_THAT(one.output, HasSubstr("gob.lin: 3 rewards learned, 1 left to the other shards of 2\n"));
  const auto two = goblin(fit + " --events log.jsonl --save two.goblin --shard 2/2 --json");
  EXPECT_EQ(two.code, 0) << two.output;
  EXPECT_THAT(two.output, HasSubstr(R"("learned":1,"passed_over":0,"shard":"2/2","others":3,)"));
  EXPECT_EQ(goblin("merge one.goblin two.goblin --save both.goblin").code, 0);
  EXPECT_EQ(rewards_in("both.goblin"), 4);
  EXPECT_EQ(goblin(fit + " --events log.jsonl --save one.goblin --shard 3/2").code, 2);
  const auto again = goblin("fit --load both.goblin --events log.jsonl --save one.goblin --shard 1/2");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.output, HasSubstr("has learned 4 rewards already"));
}

TEST_F(FitCommand, a_bad_line_does_not_cost_what_was_learned) {
  write("bad.jsonl", std::string(good) + "oops\n" + good);
  const auto outcome = goblin(fit + " --events bad.jsonl --save model.goblin");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("bad.jsonl:4: is not JSON"));
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: saved, with everything up to line 3"));
  EXPECT_EQ(rewards_in("model.goblin"), 3);
  // Whoever writes the log need not close it.
  const auto piped = shell("mkfifo in; timeout 20 '" GOBLIN_COMMAND "' " + fit +
                           " --events - --save piped.goblin <in & pid=$!\n"
                           "exec 3>in; cat bad.jsonl >&3; wait $pid");
  EXPECT_THAT(piped.output, HasSubstr("standard input:4: is not JSON"));
  EXPECT_EQ(rewards_in("piped.goblin"), 3);
}

TEST_F(FitCommand, a_bad_first_line_leaves_the_model_that_is_there) {
  ASSERT_EQ(goblin(fit + " --events good.jsonl --save model.goblin").code, 0);
  write("bad.jsonl", std::string("\noops\n") + good);
  const auto outcome = goblin(fit + " --events bad.jsonl --save model.goblin");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: not saved, because nothing was learned"));
  EXPECT_EQ(rewards_in("model.goblin"), 3);
}

// A log that pauses is learned up to there, so that a signal then costs nothing. Signals are sent once they are caught
// (the last digit of SigCgt has the bit of SIGINT).
TEST_F(FitCommand, a_signal_does_not_cost_what_was_learned) {
  for (const auto& [name, number] : {std::pair("INT", 2), std::pair("TERM", 15)}) {
    const auto outcome = shell("rm -f in; mkfifo in; '" GOBLIN_COMMAND "' " + fit +
                               " --events - --save model.goblin <in & pid=$!\n"
                               "exec 3>in; head -n 2 good.jsonl >&3; printf '{\"user\": \"an' >&3\n"
                               "for k in $(seq 1200); do grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status && break; "
                               "sleep 0.05; done; sleep 2\n"
                               "kill -" +
                               name + " $pid; wait $pid");
    EXPECT_EQ(outcome.code, 128 + number) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(fmt::format("goblin: SIG{} after line 2\n", name)));
    EXPECT_THAT(outcome.output, HasSubstr("model.goblin: saved, with everything up to line 2"));
    EXPECT_EQ(rewards_in("model.goblin"), 2);
  }
}

TEST_F(FitCommand, a_signal_within_the_header_of_a_binary_log_is_no_fault_of_the_log) {
  const auto outcome = shell(
      "mkfifo in; '" GOBLIN_COMMAND "' " + fit +
      " --events - --save model.goblin <in & pid=$!\n"
      "exec 3>in; printf '\\211GOE\\r\\n\\032\\n1234' >&3\n"
      "for k in $(seq 1200); do grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status && break; sleep 0.05; done; sleep 1\n"
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.code, 130) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("truncated")));
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: not saved, because nothing was learned"));
}

TEST_F(FitCommand, what_cannot_be_read_or_written_is_said_at_once) {
  EXPECT_THAT(goblin(fit + " --events none.jsonl --save model.goblin").output,
              HasSubstr("none.jsonl: the file cannot be opened"));
  EXPECT_EQ(goblin(fit + " --events none.jsonl --save model.goblin").code, 3);
  EXPECT_THAT(goblin(fit + " --events . --save model.goblin").output, HasSubstr(".: cannot be read"));
  const auto nowhere = goblin(fit + " --events good.jsonl --save no/such/folder");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.output, HasSubstr("no/such/folder: cannot be written"));
  const auto the_log = goblin(fit + " --events good.jsonl --save ./good.jsonl");
  EXPECT_EQ(the_log.code, 2);
  EXPECT_THAT(the_log.output, HasSubstr("--save: ./good.jsonl is the log (must be another file)"));
  EXPECT_EQ(goblin(fit + " --events good.jsonl").code, 2);
  EXPECT_EQ(goblin(fit + " --save model.goblin").code, 2);
  EXPECT_EQ(goblin(fit + " --events good.jsonl --save model.goblin --batch 0").code, 2);
  const auto too_many =
      shell("'" GOBLIN_COMMAND "' " + fit + " --events - --save model.goblin --batch 1000000000000000 <good.jsonl");
  EXPECT_EQ(too_many.code, 2);
  EXPECT_THAT(too_many.output, HasSubstr("goblin: --batch: 1000000000000000 rewards of dimension 1 take 1.25e+08 GB"));
  EXPECT_THAT(too_many.output, HasSubstr("what would fit: --batch "));
  EXPECT_EQ(goblin("fit --load model.goblin --alpha 1 --events good.jsonl --save model.goblin").code, 2);
}

TEST_F(FitCommand, a_binary_log_is_known_by_its_first_bytes) {
  EventsFileWriter file(1, true);
  file.names({"ann", "zoe"});
  file.rewards({0, 1, 0}, {1.0, 1.0, 1.0}, {1, 1, 1});
  const std::string without_end = file.bytes;
  file.end(3);
  write("log", file.bytes);
  write("cut", without_end);
  const auto outcome = goblin(fit + " --events log --save model.goblin");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("3 rewards learned\n3 users (1 new)"));
  const auto cut = goblin(fit + " --events cut --save cut.goblin");
  EXPECT_EQ(cut.code, 3);
  EXPECT_THAT(cut.output, HasSubstr("cut.goblin: saved, with everything up to reward 3"));
  EXPECT_THAT(cut.output, HasSubstr("goblin: cut: is truncated (after reward 3)"));
  EXPECT_EQ(rewards_in("cut.goblin"), 3);
}

TEST_F(FitCommand, two_halves_are_merged) {
  ASSERT_EQ(goblin(fit + " --events good.jsonl --save whole.goblin").code, 0);
  ASSERT_EQ(shell("head -n 1 good.jsonl | '" GOBLIN_COMMAND "' " + fit + " --events - --save first.goblin").code, 0);
  ASSERT_EQ(shell("tail -n 2 good.jsonl | '" GOBLIN_COMMAND "' " + fit + " --events - --save rest.goblin").code, 0);
  const auto merged = goblin("merge first.goblin rest.goblin --save merged.goblin --threads 2");
  EXPECT_EQ(merged.code, 0) << merged.output;
  EXPECT_THAT(merged.output, HasSubstr("gob.lin: 3 rewards\n"));
  EXPECT_EQ(rewards_in("merged.goblin"), 3);
  EXPECT_NEAR(load("merged.goblin").mean("bob")[0], load("whole.goblin").mean("bob")[0], 1e-12);
  ASSERT_EQ(goblin("fit --graph edges.tsv --dimension 1 --ridge 2 --events good.jsonl --save other.goblin").code, 0);
  const auto refused = goblin("merge first.goblin rest.goblin other.goblin --save merged.goblin");
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.output, HasSubstr("other.goblin: cannot be merged into first.goblin: other: ridge 2 of node 0 "
                                        "(must be 1, as here)"));
  EXPECT_EQ(rewards_in("merged.goblin"), 3);
  EXPECT_EQ(goblin("merge first.goblin --save merged.goblin").code, 2);
  EXPECT_EQ(goblin("merge first.goblin none.goblin --save merged.goblin").code, 3);
}

}  // namespace fit_test
}  // namespace goblin::app
