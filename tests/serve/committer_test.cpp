#include "serve/committer.hpp"

#include "serve/sqlite_store.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace committer_test {

using testing::ElementsAre;
using testing::StartsWith;

/// Counts what it gets.
class CountingMailbox final : public Mailbox {
 public:
  void post(std::vector<std::function<void()>> tasks) override {
    ++posts;
    for (const auto& task : tasks) task();
  }
  std::atomic<int> posts = 0;
};

class TestWrite final : public Write {
 public:
  explicit TestWrite(std::function<void(Transaction&)> work, std::function<void(const Problem*)> end = {})
      : work_(std::move(work)), end_(std::move(end)) {}
  void write(Transaction& transaction) override { work_(transaction); }
  void done(const Problem* problem) override {
    if (end_) end_(problem);
  }

 private:
  std::function<void(Transaction&)> work_;
  std::function<void(const Problem*)> end_;
};

class CommitterTest : public testing::Test {
 protected:
  /// Holds the writer's thread until it is let go.
  void hold(Committer& committer) {
    std::promise<void> begun;
    committer.between([&, gate = gate_.get_future().share()](Store&) {
      begun.set_value();
      gate.wait();
    });
    begun.get_future().wait();
  }
  void let_go() {
    gate_.set_value();
    gate_ = {};
  }

  TemporaryFolder folder_;
  SqliteStore store_{{.folder = folder_ / "store"}};
  std::promise<void> gate_;
};

void put_reward(Transaction& transaction, double value) {
  transaction.put_to_learn({.kind = RecordKind::reward, .user = "ann", .context = {1.0}, .reward = value});
}

TEST_F(CommitterTest, what_came_while_it_was_busy_is_one_transaction_and_one_letter_for_each_mailbox) {
  CountingMailbox one;
  CountingMailbox two;
  std::vector<double> learned;
  std::atomic<int> answers = 0;
  {
    Committer committer(store_, [&](std::vector<Record> records, Offset end) {
      for (const Record& record : records) learned.push_back(record.reward);
      EXPECT_EQ(end, store_.end());
      EXPECT_EQ(answers, 0) << "learned before anybody is told";
    });
    hold(committer);
    for (int k = 0; k < 6; ++k) {
      std::unique_ptr<Write> write =
          std::make_unique<TestWrite>([k](Transaction& transaction) { put_reward(transaction, k); },
                                      [&](const Problem* problem) {
                                        EXPECT_EQ(problem, nullptr);
                                        ++answers;
                                      });
      write->mailbox = k % 2 == 0 ? &one : &two;
      EXPECT_FALSE(committer.submit(write));
    }
    let_go();
  }
  EXPECT_THAT(learned, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(answers, 6);
  EXPECT_EQ(one.posts, 1);
  EXPECT_EQ(two.posts, 1);
}

TEST_F(CommitterTest, after_many_the_next_transaction_waits_for_enough_and_after_few_it_does_not) {
  std::atomic<int> answers = 0;
  Committer committer(store_, [](auto&&...) {}, {.many = 4, .enough = 3, .most_gathering = std::chrono::hours(1)});
  const auto submit = [&](int count) {
    for (int k = 0; k < count; ++k) {
      std::unique_ptr<Write> write =
          std::make_unique<TestWrite>([](Transaction& transaction) { put_reward(transaction, 1.0); },
                                      [&](const Problem* problem) {
                                        EXPECT_EQ(problem, nullptr);
                                        ++answers;
                                      });
      EXPECT_FALSE(committer.submit(write));
    }
  };
  const auto wait_for_answers = [&](int count) {
    while (answers < count) std::this_thread::yield();
    EXPECT_EQ(answers, count);
  };
  submit(1);
  wait_for_answers(1);
  submit(1);
  wait_for_answers(2);
  hold(committer);
  submit(4);
  let_go();
  wait_for_answers(6);
  submit(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(answers, 6) << "there are not enough";
  submit(1);
  wait_for_answers(9);
  submit(1);
  wait_for_answers(10);  // three were not many
}

TEST_F(CommitterTest, who_waits_for_others_waits_no_longer_than_said_nor_beyond_the_end) {
  for (const bool briefly : {true, false}) {
    std::atomic<int> answers = 0;
    {
      Committer committer(
          store_, [](auto&&...) {},
          {.many = 2, .most_gathering = briefly ? std::chrono::milliseconds(1) : std::chrono::hours(1)});
      const auto submit = [&] {
        std::unique_ptr<Write> write =
            std::make_unique<TestWrite>([](Transaction&) {}, [&](const Problem*) { ++answers; });
        EXPECT_FALSE(committer.submit(write));
      };
      hold(committer);
      submit();
      submit();
      let_go();
      while (answers < 2) std::this_thread::yield();
      submit();  // the next one waits for a second
      if (briefly) {
        while (answers < 3) std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(answers, 2);
      }
    }
    EXPECT_EQ(answers, 3);
  }
}

TEST_F(CommitterTest, when_all_who_called_before_are_back_nobody_waits) {
  std::atomic<int> answers = 0;
  Committer committer(store_, [](auto&&...) {}, {.many = 2, .enough = 100, .most_gathering = std::chrono::hours(1)});
  const auto submit = [&](int count) {
    for (int k = 0; k < count; ++k) {
      std::unique_ptr<Write> write =
          std::make_unique<TestWrite>([](Transaction&) {}, [&](const Problem*) { ++answers; });
      EXPECT_FALSE(committer.submit(write));
    }
  };
  hold(committer);
  submit(3);
  let_go();
  while (answers < 3) std::this_thread::yield();
  submit(3);
  while (answers < 6) std::this_thread::yield();
}

TEST_F(CommitterTest, too_many_that_wait_are_refused_with_429) {
  Committer committer(store_, [](auto&&...) {}, {.most_writes = 2});
  hold(committer);
  std::optional<Problem> problem;
  for (int k = 0; k < 3; ++k) {
    std::unique_ptr<Write> write = std::make_unique<TestWrite>([](Transaction&) {});
    problem = committer.submit(write);
    EXPECT_EQ(problem.has_value(), k == 2);
    EXPECT_EQ(write != nullptr, k == 2) << "it is given back";
  }
  EXPECT_EQ(problem->status, 429);
  EXPECT_EQ(problem->retry_after, 1);
  EXPECT_THAT(problem->detail, StartsWith("2 requests wait, at most 2 may"));
  EXPECT_EQ(committer.state().waiting, 2);
  let_go();
}

TEST_F(CommitterTest, a_write_that_throws_takes_the_others_of_its_transaction_with_it_and_no_more) {
  std::vector<int> statuses;
  {
    std::atomic<bool> told = false;
    Committer committer(store_, [](auto&&...) {}, {.warn = [&](const std::string&) { told = true; }});
    const auto submit = [&](std::function<void(Transaction&)> work) {
      std::unique_ptr<Write> write = std::make_unique<TestWrite>(std::move(work), [&](const Problem* problem) {
        statuses.push_back(problem == nullptr ? 200 : problem->status);
      });
      EXPECT_FALSE(committer.submit(write));
    };
    hold(committer);
    submit([](Transaction& transaction) { put_reward(transaction, 1.0); });
    submit([](Transaction&) { throw LogError("no"); });
    let_go();
    while (!told) std::this_thread::yield();
    while (!committer.state().trouble.empty()) std::this_thread::yield();
    submit([](Transaction& transaction) { put_reward(transaction, 1.0); });
  }
  EXPECT_THAT(statuses, ElementsAre(503, 503, 200));
  EXPECT_EQ(store_.end(), 2);
}

/// Takes two records at a time, and can be overtaken.
class NarrowStore final : public Store {
 public:
  explicit NarrowStore(SqliteStore& store) : store_(store) {}

  void read(Offset from, const std::function<bool(const Record&)>& visit) const override { store_.read(from, visit); }
  [[nodiscard]] Offset end() const override { return store_.end(); }
  void truncate(Offset before) override { store_.truncate(before); }
  void begin() override {
    count_ = 0;
    store_.begin();
  }
  void put(Record& record) override {
    ++count_;
    store_.put(record);
  }
  void commit() override {
    if (count_ > 2 || overtaken) {
      store_.roll_back();
      if (overtaken) throw Overtaken();
      throw TooLarge(fmt::format("{} records", count_));
    }
    store_.commit();
  }
  void roll_back() override { store_.roll_back(); }
  [[nodiscard]] std::optional<DecisionState> find(std::string_view event) override { return store_.find(event); }
  [[nodiscard]] std::vector<Record> overdue(std::int64_t before, std::size_t most) override {
    return store_.overdue(before, most);
  }
  void prove_writable() override { ++proofs; }
  [[nodiscard]] std::vector<Record> others() override {
    if (unreadable) throw LogError("an entry is of version 9");
    return {};
  }
  [[nodiscard]] std::int64_t now() const override { return store_.now(); }
  [[nodiscard]] Offset first() const override { return store_.first(); }

  std::atomic<bool> overtaken = false;
  std::atomic<bool> unreadable = false;
  std::atomic<int> proofs = 0;

 private:
  SqliteStore& store_;
  int count_ = 0;
};

TEST_F(CommitterTest, what_is_too_much_at_once_is_written_in_parts) {
  NarrowStore narrow(store_);
  std::vector<double> learned;
  std::vector<std::string> answers;
  {
    Committer committer(narrow, [&](std::vector<Record> records, Offset) {
      for (const Record& record : records) learned.push_back(record.reward);
    });
    hold(committer);
    for (int k = 0; k < 9; ++k) {
      std::unique_ptr<Write> write = std::make_unique<TestWrite>(
          [k](Transaction& transaction) {
            for (int time = 0; time < (k == 4 ? 3 : 1); ++time) put_reward(transaction, k);
          },
          [&](const Problem* problem) {
            answers.push_back(problem == nullptr ? "" : fmt::format("{} {}", problem->status, problem->type));
          });
      EXPECT_FALSE(committer.submit(write));
    }
    let_go();
  }
  EXPECT_THAT(learned, ElementsAre(0, 1, 2, 3, 5, 6, 7, 8)) << "one alone is too large";
  EXPECT_THAT(answers, ElementsAre("", "", "", "", "413 too-large", "", "", "", ""));
}

TEST_F(CommitterTest, nobody_waits_for_ever_while_others_are_quicker) {
  NarrowStore narrow(store_);
  narrow.overtaken = true;
  std::promise<std::string> answer;
  Committer committer(narrow, [](std::vector<Record>, Offset) {}, {.most_overtaken = std::chrono::milliseconds(20)});
  std::unique_ptr<Write> write = std::make_unique<TestWrite>(
      [](Transaction& transaction) { put_reward(transaction, 1.0); },
      [&](const Problem* problem) { answer.set_value(problem == nullptr ? "" : problem->detail); });
  EXPECT_FALSE(committer.submit(write));
  EXPECT_EQ(answer.get_future().get(), "other processes were quicker for 20 ms");
}

TEST_F(CommitterTest, whoever_cannot_read_the_others_is_in_trouble_and_writes_nothing) {
  NarrowStore narrow(store_);
  Committer committer(narrow, [](std::vector<Record>, Offset) {}, {.try_again = std::chrono::milliseconds(1)});
  narrow.unreadable = true;
  const auto wait_for = [&](bool troubled) {
    while (committer.is_troubled() != troubled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  committer.look_for_others();
  wait_for(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_TRUE(committer.is_troubled());
  EXPECT_EQ(narrow.proofs, 0);
  narrow.unreadable = false;
  wait_for(false);
  EXPECT_GE(narrow.proofs, 1);
}

}  // namespace committer_test
}  // namespace goblin::serve
