#include "serve/learner.hpp"

#include "serve/sqlite_store.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace learner_test {

using testing::ElementsAre;
using testing::HasSubstr;

class LearnerTest : public testing::Test {
 protected:
  void begin(LearnerOptions options = {}) {
    learner_ = std::make_unique<Learner>(
        store_, Fold(bandit_, 0, [this](std::string warning) { warnings_.push_back(std::move(warning)); }),
        [this](const Record& record) { seen_.push_back(record.offset); }, options);
  }
  Record reward(std::string user, double value) {
    return {.kind = RecordKind::reward, .user = std::move(user), .context = {1.0, 2.0, value}, .reward = value};
  }
  /// Writes records, and hands them on as the committer does.
  void append(std::vector<Record> records) {
    store_.append(records);
    learner_->take(std::move(records), store_.end());
  }
  /// Holds the learner's thread until it is let go.
  void hold() {
    std::promise<void> begun;
    learner_->between([&, gate = gate_.get_future().share()](Offset) {
      begun.set_value();
      gate.wait();
    });
    begun.get_future().wait();
  }
  void let_go() { gate_.set_value(); }

  TemporaryFolder folder_;
  SqliteStore store_{{.folder = folder_ / "store"}};
  SharedBandit bandit_{Bandit::gob_lin(named_cliques(), {.dimension = 3})};
  std::vector<std::string> warnings_;
  std::vector<Offset> seen_;
  std::promise<void> gate_;
  std::unique_ptr<Learner> learner_;
};

TEST_F(LearnerTest, what_does_not_fit_into_memory_is_read_from_the_log) {
  begin({.most_together = 7, .most_in_memory = 10});
  hold();
  Bandit same = Bandit::gob_lin(named_cliques(), {.dimension = 3});
  for (int k = 0; k < 40; ++k) {
    const Record one = reward(fmt::format("u{}", k % 12), 0.1 * k);
    append({{.kind = RecordKind::decision, .user = "u1", .context = {1.0, 2.0, 3.0}}, one});
    same.update(one.user, one.context, one.reward);
  }
  EXPECT_EQ(learner_->backlog(), 40);
  let_go();
  learner_->wait_until_learned();
  EXPECT_EQ(learner_->backlog(), 0);
  EXPECT_EQ(learner_->learned(), 80);
  // And then from memory again.
  const Record one = reward("u5", 7.0);
  append({one});
  same.update(one.user, one.context, one.reward);
  learner_->wait_until_learned();
  expect_same(bandit_.snapshot(), same);
}

TEST_F(LearnerTest, joins_are_taken_first_and_edges_in_their_turn) {
  begin({.most_together = 1});
  hold();
  append({reward("u1", 1.0), {.kind = RecordKind::edge, .user = "u1", .other_user = "u9", .weight = 2.0}});
  append({reward("u2", 1.0), {.kind = RecordKind::user, .user = "new"}, reward("new", 1.0)});
  let_go();
  learner_->wait_until_learned();
  EXPECT_THAT(seen_, ElementsAre(4, 2));
  EXPECT_TRUE(bandit_.has_user("new"));
  EXPECT_EQ(bandit_.user_count(), 13);
  EXPECT_EQ(bandit_.weight("u1", "u9"), 2.0);
  EXPECT_EQ(bandit_.rewards(), 3);
}

TEST_F(LearnerTest, where_joins_change_what_is_learned_they_have_their_turn_too) {
  const auto dynucb = [] {
    return Bandit::make(Policy::dynucb, named_cliques(), {}, {.dimension = 3, .dynucb = {.clusters = 3}});
  };
  SharedBandit live(dynucb());
  learner_ = std::make_unique<Learner>(
      store_, Fold(live, 0, {}), [this](const Record& record) { seen_.push_back(record.offset); },
      LearnerOptions{.joins_first = false});
  hold();
  Bandit same = dynucb();
  for (int k = 0; k < 60; ++k) {
    const int user = k * 5 % 12;
    const Record one{.kind = RecordKind::reward,
                     .user = fmt::format("u{}", user),
                     .context = request_for("", static_cast<std::uint64_t>(k), 1).contexts,
                     .reward = user % 3 - 1.0 + 0.1 * (k % 4)};
    append({one});
    same.update(one.user, one.context, one.reward);
    if (k >= 45) {
      append({{.kind = RecordKind::user, .user = fmt::format("new{}", k)}});
      same.add_user(fmt::format("new{}", k));
    }
  }
  let_go();
  learner_->wait_until_learned();
  EXPECT_EQ(seen_.size(), 15);
  for (NodeId user = 0; user < same.user_count(); ++user) EXPECT_EQ(live.cluster(user), same.cluster(user)) << user;
  expect_same(live.snapshot(), same);
}

TEST_F(LearnerTest, what_could_not_be_learned_yet_is_not_passed_over) {
  std::atomic<bool> fails = true;
  learner_ = std::make_unique<Learner>(
      store_, Fold(bandit_, 0, {}),
      [&](const Record&) {
        if (fails) throw std::bad_alloc();
      },
      LearnerOptions{.try_again = std::chrono::milliseconds(50)});
  append({{.kind = RecordKind::user, .user = "new"}, reward("new", 1.0)});
  while (learner_->trouble().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::vector<Record> decision{{.kind = RecordKind::decision, .user = "u1", .context = {1.0, 2.0, 3.0}}};
  store_.append(decision);
  learner_->take({}, store_.end());   // there is nothing to learn in a decision
  EXPECT_EQ(learner_->learned(), 0);  // a snapshot of this moment would lack the reward
  fails = false;
  learner_->wait_until_learned();
  EXPECT_EQ(learner_->learned(), 3);
  EXPECT_EQ(bandit_.evidence("new").count, 1);
}

TEST_F(LearnerTest, a_record_that_the_bandit_refuses_is_told_and_passed_over_alone) {
  begin();
  append({reward("u1", 1.0),
          reward("nobody", 1.0),
          reward("u2", 1.0),
          {.kind = RecordKind::no_edge, .user = "u1", .other_user = "u9"},
          {.kind = RecordKind::edge, .user = "u1", .other_user = "u1"}});
  learner_->wait_until_learned();
  EXPECT_EQ(bandit_.rewards(), 2);
  ASSERT_EQ(warnings_.size(), 2);
  EXPECT_THAT(warnings_[0], HasSubstr("record 2 of the log cannot be learned"));
  EXPECT_THAT(warnings_[1], HasSubstr("record 5"));
  EXPECT_EQ(learner_->learned(), 5);
}

TEST_F(LearnerTest, what_was_learned_before_memory_ran_out_is_not_learned_again) {
  std::atomic<bool> fails = true;
  learner_ = std::make_unique<Learner>(
      store_,
      Fold(bandit_, 0,
           [&](const std::string&) {
             if (fails) throw std::bad_alloc();
           }),
      [](const Record&) {}, LearnerOptions{.try_again = std::chrono::milliseconds(20)});
  hold();
  append({reward("u0", 1.0), reward("nobody", 1.0), reward("u1", 2.0)});
  let_go();
  while (learner_->trouble().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(learner_->learned(), 1);
  EXPECT_EQ(learner_->backlog(), 2);
  fails = false;
  learner_->wait_until_learned();
  EXPECT_EQ(learner_->backlog(), 0);
  EXPECT_EQ(bandit_.evidence("u0").count, 1);
  EXPECT_EQ(bandit_.rewards(), 2);
}

TEST_F(LearnerTest, an_edge_has_the_weight_that_its_last_record_says) {
  begin();
  hold();
  append({{.kind = RecordKind::edge, .user = "u0", .other_user = "u9", .weight = 0.1},
          {.kind = RecordKind::edge, .user = "u9", .other_user = "u0", .weight = 0.3},
          {.kind = RecordKind::no_edge, .user = "u0", .other_user = "u1"},
          {.kind = RecordKind::edge, .user = "u0", .other_user = "u1", .weight = 0.7},
          {.kind = RecordKind::edge, .user = "u2", .other_user = "u3", .weight = 5.0}});
  let_go();
  learner_->wait_until_learned();
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(bandit_.weight("u0", "u9"), 0.3);
  EXPECT_EQ(bandit_.weight("u0", "u1"), 0.7);
  EXPECT_EQ(bandit_.weight("u2", "u3"), 5.0);
}

}  // namespace learner_test
}  // namespace goblin::serve
