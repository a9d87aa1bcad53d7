#include "serve/service.hpp"

#include "serve/sqlite.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace service_test {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ServiceTest : public testing::Test {
 protected:
  ServiceTest() {
    options_.store = folder_ / "store";
    options_.snapshot_every = 1h;
    options_.warn = [this](std::string warning) {
      const std::lock_guard lock(warnings_mutex_);
      warnings_.push_back(std::move(warning));
    };
  }

  static Bandit bandit(const BanditOptions& options = {.dimension = 3}) {
    return Bandit::gob_lin(named_cliques(), options);
  }
  std::unique_ptr<Service> start(const data::Items* items = nullptr) {
    return std::make_unique<Service>(bandit(), items, options_);
  }

  TemporaryFolder folder_;
  ServiceOptions options_;
  std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
};

TEST_F(ServiceTest, decides_as_the_bandit_does_and_learns_from_the_reward) {
  const auto service = start();
  Caller caller(*service);
  const SelectRequest request = request_for("u3", 7);
  const Decided first = good(caller.select(request));
  const Decision expected = bandit().select("u3", {request.contexts, 3});
  EXPECT_EQ(first.arm, expected.arm);
  EXPECT_EQ(first.offset, 1);
  EXPECT_EQ(first.event, "g-1");
  EXPECT_EQ(first.probability, 1.0);
  EXPECT_EQ(first.scores, fmt::format("[{},{},{}]", expected.scores[0], expected.scores[1], expected.scores[2]));

  const Accepted accepted = good(caller.reward("g-1", 0.5));
  EXPECT_EQ(accepted.offset, 2);
  EXPECT_FALSE(accepted.repeated);
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 1);
  Bandit same = bandit();
  same.update("u3", std::span(request.contexts).subspan(3 * first.arm, 3), 0.5);
  EXPECT_EQ(service->bandit().mean("u0"), same.mean("u0"));
}

TEST_F(ServiceTest, nobody_waits_for_what_can_never_come) {
  const auto service = start();
  Caller caller(*service);
  SelectRequest request = request_for("u3", 7);
  request.after = 1;
  EXPECT_THAT(problem_of(caller.select(request)), HasSubstr("after: 1 (must be below 1, where the log ends)"));
  request.after = 0;
  good(caller.select(request));
  request.after = 1;
  EXPECT_EQ(good(caller.select(request)).offset, 2);
}

TEST_F(ServiceTest, the_same_event_gets_the_same_answer_also_after_learning_and_a_restart) {
  auto service = start();
  SelectRequest request = request_for("u3", 7);
  request.event = "order-1";
  const Decided first = good(Caller(*service).select(request));
  EXPECT_EQ(first.event, "order-1");
  good(Caller(*service).reward("order-1", 5.0));
  service->wait_until_learned();
  for (int start_again = 0; start_again < 2; ++start_again) {
    const Decided again = good(Caller(*service).select(request));
    EXPECT_EQ(again.arm, first.arm);
    EXPECT_EQ(again.scores, first.scores);
    EXPECT_EQ(again.offset, first.offset);
    service.reset();
    service = start();
  }
  request.user = "u4";
  EXPECT_THAT(problem_of(Caller(*service).select(request)), StartsWith("409 event-taken: event: \"order-1\""));
  EXPECT_EQ(service->status().end, 3);
}

TEST_F(ServiceTest, a_reward_counts_once_and_every_refusal_says_why) {
  const auto service = start();
  Caller caller(*service);
  const Decided decided = good(caller.select(request_for("u1", 1)));
  EXPECT_THAT(problem_of(caller.reward("g-2", 1.0)), StartsWith("404 unknown-event: event: \"g-2\""));
  EXPECT_THAT(problem_of(caller.reward("order-1", 1.0)), StartsWith("404 unknown-event"));
  const Accepted first = good(caller.reward(decided.event, 1.0));
  const Accepted again = good(caller.reward(decided.event, 1.0));
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.offset, first.offset);
  EXPECT_THAT(problem_of(caller.reward(decided.event, 2.0)),
              AllOf(StartsWith("409 other-reward: reward: 2"), HasSubstr("must be 1")));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, -infinity, std::nan(""), 1e101}) {
    EXPECT_THAT(problem_of(caller.reward(decided.event, bad)), StartsWith("400 invalid-field: reward: "));
  }
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 1);
  const Status status = service->status();
  EXPECT_EQ(status.rewards_accepted, 1);
  EXPECT_EQ(status.rewards_repeated, 1);
  EXPECT_EQ(status.reward_sum, 1.0);
}

TEST_F(ServiceTest, bad_requests_are_refused_and_nothing_is_logged) {
  options_.most_candidates = 4;
  options_.most_name_bytes = 10;
  const auto service = start();
  Caller caller(*service);
  const auto refused = [&](auto change) {
    SelectRequest request = request_for("u1", 1);
    change(request);
    return problem_of(caller.select(request));
  };
  EXPECT_THAT(refused([](auto& it) { it.user = ""; }), StartsWith("400 invalid-field: user"));
  EXPECT_THAT(refused([](auto& it) { it.user = "u1234567890"; }),
              AllOf(StartsWith("400 invalid-field: user: 11 bytes"), HasSubstr("at most 10")));
  EXPECT_THAT(refused([](auto& it) { it.event = "g-7"; }), StartsWith("400 invalid-field: event"));
  EXPECT_THAT(refused([](auto& it) { it.event = "order-123456"; }), StartsWith("400 invalid-field: event"));
  EXPECT_THAT(refused([](auto& it) { it.contexts.clear(); }), StartsWith("400 invalid-field: contexts"));
  EXPECT_THAT(refused([](auto& it) { it.contexts.push_back(1.0); }), StartsWith("400 invalid-field"));
  EXPECT_THAT(refused([](auto& it) { it.contexts.resize(15); }),
              AllOf(StartsWith("400 invalid-field: contexts: 5"), HasSubstr("at most 4")));
  EXPECT_THAT(refused([](auto& it) { it.contexts[4] = std::nan(""); }), StartsWith("400 invalid-field"));
  EXPECT_THAT(refused([](auto& it) { it.allowed = {1}; }), StartsWith("400 invalid-field"));
  EXPECT_THAT(refused([](auto& it) { it.allowed = {0, 0, 0}; }), StartsWith("400 invalid-field"));
  EXPECT_THAT(refused([](auto& it) { it.items = {"hat"}; }), StartsWith("400 invalid-field: items"));
  EXPECT_THAT(refused([](auto& it) {
                it.contexts.clear();
                it.items = {"hat"};
              }),
              StartsWith("404 unknown-item: items[0]: \"hat\""));
  EXPECT_EQ(service->status().end, 1);
  EXPECT_EQ(service->status().decisions, 0);
}

TEST_F(ServiceTest, what_is_left_out_is_not_chosen_and_has_no_score) {
  const auto service = start();
  SelectRequest request = request_for("u1", 1);
  request.allowed = {0, 1, 0};
  const Decided decided = good(Caller(*service).select(request));
  EXPECT_EQ(decided.arm, 1);
  EXPECT_THAT(decided.scores, AllOf(StartsWith("[null,"), testing::EndsWith(",null]")));
}

TEST_F(ServiceTest, a_ranking_has_an_event_for_each_place) {
  const auto service = start();
  Caller caller(*service);
  SelectRequest request = request_for("u1", 1, 5);
  request.k = 3;
  const RankedPlaces ranking = good(caller.rank(request));
  ASSERT_EQ(ranking.places.size(), 3);
  EXPECT_EQ(ranking.offset, 3);
  const auto expected = bandit().rank("u1", {request.contexts, 3}, 3);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(ranking.places[k].event, fmt::format("g-{}", k + 1));
    EXPECT_EQ(ranking.places[k].arm, expected[k].arm);
    EXPECT_EQ(ranking.places[k].score, expected[k].score);
  }
  good(caller.reward("g-2", 1.0));
  service->wait_until_learned();
  Bandit same = bandit();
  same.update("u1", std::span(request.contexts).subspan(3 * expected[1].arm, 3), 1.0);
  EXPECT_EQ(service->bandit().mean("u1"), same.mean("u1"));

  request.event = "page";
  const RankedPlaces named = good(caller.rank(request));
  EXPECT_EQ(named.places[1].event, "page.2");
  const RankedPlaces again = good(caller.rank(request));
  ASSERT_EQ(again.places.size(), 3);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(again.places[k].arm, named.places[k].arm);
    EXPECT_EQ(again.places[k].score, named.places[k].score);
  }
  EXPECT_EQ(again.offset, named.offset);
  request.user = "u2";
  EXPECT_THAT(problem_of(caller.rank(request)), StartsWith("409 event-taken"));
  request.k = 0;
  EXPECT_THAT(problem_of(caller.rank(request)), StartsWith("400 invalid-field: k"));
}

TEST_F(ServiceTest, a_ranking_whose_places_have_names_of_others_is_refused_alone) {
  const auto service = start();
  Caller caller(*service);
  SelectRequest select = request_for("u1", 1);
  for (const char* event : {"page.2", "other.4"}) {
    select.event = event;
    good(caller.select(select));
  }
  SelectRequest request = request_for("u1", 1, 5);
  request.k = 3;
  request.event = "page";
  EXPECT_THAT(problem_of(caller.rank(request)), AllOf(StartsWith("409 event-taken"), HasSubstr("\"page.2\"")));
  EXPECT_TRUE(service->status().trouble.empty());
  request.event = "other";
  EXPECT_EQ(good(caller.rank(request)).places.size(), 3);
  EXPECT_EQ(good(caller.rank(request)).places.size(), 3);
  // The names of the places are what rewards come for, so they have to be as short as others.
  request.event = std::string(options_.most_name_bytes - 1, 'x');
  EXPECT_THAT(problem_of(caller.rank(request)), StartsWith("400 invalid-field: event"));
  request.event.pop_back();
  good(caller.reward(good(caller.rank(request)).places.back().event, 1.0));
}

TEST_F(ServiceTest, scores_may_be_as_small_as_numbers_can_be) {
  const auto service = start();
  Caller caller(*service);
  good(caller.reward({.user = "u1", .context = {1.0, 0.0, 0.0}, .reward = 1.0}));
  service->wait_until_learned();
  SelectRequest request{.user = "u1", .contexts = {1e-320, 0.0, 0.0, 1e-310, 0.0, 0.0}, .event = "small", .k = 2};
  const RankedPlaces ranking = good(caller.rank(request));
  ASSERT_EQ(ranking.places.size(), 2);
  EXPECT_GT(ranking.places[0].score, 0.0);
  EXPECT_LT(ranking.places[0].score, 1e-308);
  EXPECT_EQ(good(caller.rank(request)).places[0].score, ranking.places[0].score);
}

TEST_F(ServiceTest, nobody_joins_for_a_request_that_is_refused) {
  const auto service = start();
  Caller caller(*service);
  SelectRequest request{.user = "new", .contexts = {1e200, 0.0, 0.0}};
  EXPECT_THAT(problem_of(caller.select(request)), StartsWith("400 invalid-field"));
  EXPECT_THAT(problem_of(caller.rank(request)), StartsWith("400 invalid-field"));
  EXPECT_EQ(service->status().end, 1);
}

TEST_F(ServiceTest, somebody_whom_the_bandit_refuses_is_told_so) {
  // The hub holds twelve users, and no thirteenth.
  const double most = [] {
    double low = 0.0;
    double high = 1e30;
    for (int step = 0; step < 200; ++step) {
      const double middle = std::sqrt(std::max(low, 1e-3) * high);
      try {
        (void)Bandit::make(Policy::gob_lin_hub, named_cliques(), {}, {.dimension = 3, .hub = {.weight = middle}});
        low = middle;
      } catch (const std::invalid_argument&) {
        high = middle;
      }
    }
    return low;
  }();
  Service service(Bandit::make(Policy::gob_lin_hub, named_cliques(), {}, {.dimension = 3, .hub = {.weight = most}}),
                  nullptr, options_);
  Caller caller(service);
  EXPECT_THAT(problem_of(caller.select(request_for("new", 1))), StartsWith("409 full: user: \"new\" cannot join"));
  EXPECT_THAT(problem_of(caller.reward({.user = "new", .context = {1.0, 2.0, 3.0}, .reward = 1.0})),
              StartsWith("409 full"));
  EXPECT_EQ(service.status().users, 12);
  EXPECT_EQ(service.status().end, 3);
  const std::lock_guard lock(warnings_mutex_);
  EXPECT_THAT(warnings_, testing::Contains(HasSubstr("record 1 of the log cannot be learned: hub")));
}

TEST_F(ServiceTest, strangers_join_without_friends_once) {
  const auto service = start();
  Caller caller(*service);
  good(caller.select(request_for("new", 1)));
  EXPECT_EQ(service->status().users, 13);
  EXPECT_TRUE(service->bandit().friends("new").empty());
  good(caller.reward({.user = "newer", .context = {1.0, 2.0, 3.0}, .reward = 1.0}));
  service->wait_until_learned();
  EXPECT_EQ(service->status().users, 14);
  EXPECT_EQ(service->bandit().evidence("newer").count, 1);
}

TEST_F(ServiceTest, strangers_are_refused_where_that_was_asked_for) {
  options_.refuse_unknown_users = true;
  const auto service = start();
  Caller caller(*service);
  EXPECT_THAT(problem_of(caller.select(request_for("new", 1))), StartsWith("404 unknown-user: user: \"new\""));
  EXPECT_THAT(problem_of(caller.rank(request_for("new", 1))), StartsWith("404 unknown-user"));
  EXPECT_THAT(problem_of(caller.reward({.user = "new", .context = {1.0, 2.0, 3.0}, .reward = 1.0})),
              StartsWith("404 unknown-user"));
  EXPECT_EQ(service->status().end, 1);
  good(caller.put_user({.user = "new"}));
  good(caller.select(request_for("new", 1)));
}

TEST_F(ServiceTest, no_more_users_join_than_there_may_be) {
  options_.most_users = 13;
  const auto service = start();
  Caller caller(*service);
  good(caller.select(request_for("one", 1)));
  EXPECT_THAT(problem_of(caller.select(request_for("two", 1))),
              AllOf(StartsWith("409 full: user: \"two\""), HasSubstr("13")));
  EXPECT_THAT(problem_of(caller.put_user({.user = "two"})), StartsWith("409 full"));
}

TEST_F(ServiceTest, many_rewards_have_a_result_each) {
  const auto service = start();
  Caller caller(*service);
  const Decided decided = good(caller.select(request_for("u1", 1)));
  good(caller.put_item({.item = "hat", .context = {1.0, 0.0, 0.0}}));
  const auto results = caller.rewards({{.event = decided.event, .reward = 1.0},
                                       {.event = decided.event, .reward = 1.0},
                                       {.event = decided.event, .reward = 2.0},
                                       {.event = "g-99", .reward = 2.0},
                                       {.user = "u2", .context = {1.0, 0.5, 0.25}, .reward = 3.0},
                                       {.user = "u2", .context = {1.0, 0.5}, .reward = 3.0},
                                       {.user = "stranger", .item = "hat", .reward = 4.0},
                                       {.user = "u2", .item = "sock", .reward = 4.0},
                                       {.event = "g-1", .user = "u2", .reward = 1.0}});
  ASSERT_EQ(results.size(), 9);
  EXPECT_FALSE(good(results[0]).repeated);
  EXPECT_TRUE(good(results[1]).repeated);
  EXPECT_THAT(problem_of(results[2]), StartsWith("409"));
  EXPECT_THAT(problem_of(results[3]), StartsWith("404 unknown-event"));
  EXPECT_FALSE(good(results[4]).repeated);
  EXPECT_THAT(problem_of(results[5]), StartsWith("400 invalid-field: context"));
  EXPECT_FALSE(good(results[6]).repeated);
  EXPECT_THAT(problem_of(results[7]), StartsWith("404 unknown-item"));
  EXPECT_THAT(problem_of(results[8]), StartsWith("400 invalid-field: event"));
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 3);
}

TEST_F(ServiceTest, the_graph_changes_while_it_runs) {
  const auto service = start();
  Caller caller(*service);
  EXPECT_EQ(service->status().edges, 18);
  const Accepted joined = good(caller.put_edge("u0", "u4", 2.0));
  EXPECT_EQ(joined.offset, 1);
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().weight("u0", "u4"), 2.0);
  EXPECT_TRUE(good(caller.put_edge("u0", "u4", 2.0)).repeated);
  good(caller.put_edge("u4", "u0", 0.5));
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().weight("u0", "u4"), 0.5);
  good(caller.delete_edge("u0", "u4"));
  EXPECT_THAT(problem_of(caller.delete_edge("u0", "u4")), StartsWith("404 unknown-edge"));
  EXPECT_THAT(problem_of(caller.put_edge("u0", "u99")), StartsWith("404 unknown-user: user: \"u99\""));
  EXPECT_THAT(problem_of(caller.put_edge("u0", "u0")), StartsWith("400 invalid-field: edge"));
  for (const double bad : {0.0, -1.0, 1e7, std::nan("")}) {
    EXPECT_THAT(problem_of(caller.put_edge("u0", "u5", bad)), StartsWith("400 invalid-field: weight"));
  }
  good(caller.put_user({.user = "new", .friends = {{"u0", 1.0}, {"u4", 3.0}}}));
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().weight("new", "u4"), 3.0);
  EXPECT_TRUE(good(caller.put_user({.user = "new", .friends = {{"u0", 1.0}}})).repeated);
  EXPECT_THAT(problem_of(caller.put_user({.user = "newer", .friends = {{"nobody", 1.0}}})),
              StartsWith("404 unknown-user: friends: \"nobody\""));
  EXPECT_FALSE(service->bandit().has_user("newer"));
  EXPECT_THAT(problem_of(caller.put_user({.user = "newer", .cluster = 1})), StartsWith("400 invalid-field: cluster"));

  const UserView view = good(service->user("new"));
  EXPECT_EQ(view.friend_count, 2);
  ASSERT_EQ(view.friends.size(), 2);
  EXPECT_EQ(view.friends[0].user, "u4");
  EXPECT_EQ(view.mean.size(), 3);
  EXPECT_EQ(view.deviations.size(), 3);
  EXPECT_THAT(problem_of(service->user("nobody")), StartsWith("404 unknown-user"));
}

TEST_F(ServiceTest, items_come_change_and_go_and_are_there_after_a_restart) {
  data::Items items;
  items.dimension = 3;
  items.names.insert("cap");
  items.numbers = {0.0, 0.0, 1.0};
  auto service = start(&items);
  {
    Caller caller(*service);
    good(caller.put_item({.item = "hat", .context = {1.0, 0.0, 0.0}}));
    EXPECT_TRUE(good(caller.put_item({.item = "hat", .context = {1.0, 0.0, 0.0}})).repeated);
    good(caller.put_item({.item = "sock", .context = {0.0, 1.0, 0.0}}));
    good(caller.put_item({.item = "hat", .context = {2.0, 0.0, 0.0}}));
    good(caller.delete_item("sock"));
    EXPECT_THAT(problem_of(caller.delete_item("sock")), StartsWith("404 unknown-item"));
    EXPECT_THAT(problem_of(caller.put_item({.item = "bad", .context = {2.0, 0.0}})), StartsWith("400 invalid-field"));
    EXPECT_THAT(problem_of(caller.put_item({.item = "", .context = {2.0, 0.0, 0.0}})), StartsWith("400"));
    const Decided decided = good(caller.select({.user = "u1", .items = {"cap", "hat"}}));
    EXPECT_EQ(decided.item, "hat");
    good(caller.reward(decided.event, 1.0));
    service->wait_until_learned();
    Bandit same = bandit();
    same.update("u1", std::vector{2.0, 0.0, 0.0}, 1.0);
    EXPECT_EQ(service->bandit().mean("u1"), same.mean("u1"));
  }
  items.names.insert("late");  // a store that is there has its own
  items.numbers.insert(items.numbers.end(), {1.0, 1.0, 1.0});
  service.reset();
  service = start(&items);
  EXPECT_EQ(service->status().items, 2);
  EXPECT_THAT(good(service->item("hat")).context, ElementsAre(2.0, 0.0, 0.0));
  EXPECT_THAT(problem_of(service->item("sock")), StartsWith("404 unknown-item"));
}

TEST_F(ServiceTest, decisions_without_a_reward_are_learned_as_the_default_after_the_horizon) {
  options_.default_reward = -0.5;
  auto service = start();
  Decided decided;
  Decided liked;
  {
    Caller caller(*service);
    decided = good(caller.select(request_for("u1", 1)));
    liked = good(caller.select(request_for("u1", 2)));
    good(caller.reward(liked.event, 1.0));
  }
  // A short horizon only now, so that the reward is not late on a slow disk.
  service.reset();
  options_.horizon = 60ms;
  service = start();
  Caller caller(*service);
  while (service->status().rewards_expired == 0) std::this_thread::sleep_for(5ms);
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 2);
  EXPECT_THAT(problem_of(caller.reward(decided.event, 1.0)), StartsWith("410 past-horizon: event: \"g-1\""));
  EXPECT_TRUE(good(caller.reward(liked.event, 1.0)).repeated);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(service->status().rewards_expired, 1);
  const EvidenceCopy evidence = service->bandit().evidence("u1");
  EXPECT_EQ(evidence.squared_rewards, 1.25);
}

TEST_F(ServiceTest, what_is_overdue_is_learned_before_its_log_is_given_up) {
  constexpr std::size_t decisions = 5'000;
  options_.horizon = 300ms;
  options_.default_reward = std::nullopt;
  options_.durable_decisions = false;
  {
    const auto service = start();
    Caller caller(*service);
    for (std::size_t k = 0; k < decisions; ++k) good(caller.select(request_for("u1", k)));
    good(caller.put_user({.user = "last"}));
    service->wait_until_learned();
  }
  std::this_thread::sleep_for(400ms);
  options_.default_reward = 0.0;
  options_.keep = options_.horizon;
  const auto service = start();
  for (int k = 0; k < 1'000 && service->status().rewards < decisions; ++k) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(service->status().rewards, decisions);
}

TEST_F(ServiceTest, without_a_default_nothing_is_learned_and_the_horizon_holds_all_the_same) {
  options_.horizon = 30ms;
  options_.default_reward = std::nullopt;
  const auto service = start();
  Caller caller(*service);
  const Decided decided = good(caller.select(request_for("u1", 1)));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(problem_of(caller.reward(decided.event, 1.0)), StartsWith("410 past-horizon"));
  EXPECT_EQ(service->status().end, 2);
}

TEST_F(ServiceTest, the_log_reads_as_replay_does) {
  const auto service = start();
  Caller caller(*service);
  SelectRequest request = request_for("u\"1", 1);
  request.contexts = {0.5, 0, 0, 0, -0.25, 0, 0, 0, 0.123456789};
  const Decided decided = good(caller.select(request));
  good(caller.put_edge("u1", "u9"));
  good(caller.reward(decided.event, 1.0));
  good(caller.reward({.user = "u2", .context = {1.0, 0.5, 0.25}, .reward = 3.0}));
  good(caller.put_item({.item = "hat", .context = {1.0, 0.5, 0.25}}));
  SelectRequest by_item{.user = "u2", .items = {"hat"}, .event = "named"};
  good(caller.select(by_item));
  good(caller.reward("named", 2.0));
  const Service::LogPage page = service->log(1, 1 << 20);
  EXPECT_TRUE(page.end);
  EXPECT_EQ(page.next, service->status().end);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < page.lines.size();) {
    const std::size_t end = page.lines.find('\n', at);
    lines.push_back(page.lines.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 3);
  EXPECT_THAT(
      lines[0],
      StartsWith(fmt::format(
          R"({{"user":"u\"1","contexts":{},"action":{},"reward":1,"probability":1,"event":"g-2","offset":4,"time":)",
          "[[0.5,0,0],[0,-0.25,0],[0,0,0.123456789]]", decided.arm)));
  EXPECT_THAT(lines[1], StartsWith(R"({"user":"u2","context":[1,0.5,0.25],"reward":3,"offset":5,"time":)"));
  EXPECT_THAT(lines[2],
              StartsWith(R"({"user":"u2","items":["hat"],"action":0,"reward":2,"probability":1,"event":"named",)"));
  const Service::LogPage first = service->log(1, 1);
  EXPECT_FALSE(first.end);
  EXPECT_EQ(first.lines, lines[0] + "\n");
  const Service::LogPage second = service->log(first.next, 1);
  EXPECT_EQ(second.lines, lines[1] + "\n");
  const auto newest = service->newest(2);
  ASSERT_EQ(newest.size(), 2);
  EXPECT_EQ(newest[0].reward, 2.0);
  EXPECT_EQ(newest[1].event, "named");
}

TEST_F(ServiceTest, explanations_come_from_contexts_and_items) {
  const auto service = start();
  Caller caller(*service);
  good(caller.put_item({.item = "hat", .context = {1.0, 0.0, 0.0}}));
  good(caller.reward({.user = "u2", .item = "hat", .reward = 1.0}));
  service->wait_until_learned();
  const Explanation explanation = good(service->explain("u1", {}, "hat", 5));
  EXPECT_GT(explanation.mean, 0.0);
  ASSERT_EQ(explanation.contributions.size(), 1);
  EXPECT_EQ(service->name_of(explanation.contributions[0].user), "u2");
  EXPECT_EQ(good(service->explain("u1", {1.0, 0.0, 0.0}, "", 5)).mean, explanation.mean);
  EXPECT_THAT(problem_of(service->explain("u1", {}, "sock", 5)), StartsWith("404 unknown-item"));
  EXPECT_THAT(problem_of(service->explain("nobody", {1.0, 0.0, 0.0}, "", 5)), StartsWith("404 unknown-user"));
  EXPECT_THAT(problem_of(service->explain("u1", {1.0}, "", 5)), StartsWith("400 invalid-field"));
}

TEST_F(ServiceTest, decisions_that_are_answered_first_are_on_disk_soon_and_names_are_never_used_again) {
  options_.durable_decisions = false;
  auto service = start();
  const Decided decided = good(Caller(*service).select(request_for("u1", 1)));
  EXPECT_EQ(decided.event, "g-1-1");
  EXPECT_EQ(decided.offset, 0) << "it has none yet";
  good(Caller(*service).reward(decided.event, 1.0));
  good(Caller(*service).select(request_for("u1", 2)));
  service.reset();
  service = start();
  EXPECT_EQ(service->status().end, 4) << "what was answered is written before the end";
  EXPECT_EQ(good(Caller(*service).select(request_for("u1", 1))).event, "g-2-1");
  EXPECT_TRUE(good(Caller(*service).reward("g-1-1", 1.0)).repeated);
  good(Caller(*service).reward("g-1-2", 1.0));
}

TEST_F(ServiceTest, decisions_that_come_faster_than_they_are_written_wait_and_are_not_refused) {
  constexpr std::size_t callers = 4;
  constexpr std::size_t each = 2'000;
  options_.durable_decisions = false;
  options_.most_writes = 64;
  const auto service = start();
  std::atomic<std::size_t> waited = 0;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < callers; ++thread) {
    threads.emplace_back([&, thread] {
      Caller caller(*service);
      for (std::size_t k = 0; k < each; ++k) {
        const auto result = caller.select(request_for("u1", k * callers + thread));
        ASSERT_EQ(problem_of(result), "accepted") << k;
        const Decided& decided = std::get<Decided>(result);
        if (decided.offset == 0) continue;
        EXPECT_EQ(decided.event, fmt::format("g-{}", decided.offset));
        ++waited;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(waited, 0);
  EXPECT_LT(waited, callers * each);
  good(Caller(*service).put_item({.item = "last", .context = {1.0, 0.0, 0.0}}));
  EXPECT_EQ(service->status().end, callers * each + 2);
}

TEST_F(ServiceTest, no_batch_makes_more_wait_to_be_learned_than_may) {
  options_.backlog_limit = 5;
  const auto service = start();
  Caller caller(*service);
  const std::vector<RewardRequest> batch(20, {.user = "u1", .context = {1.0, 0.5, 0.25}, .reward = 1.0});
  const auto results = caller.rewards(batch);
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k < 5) {
      EXPECT_EQ(problem_of(results[k]), "accepted") << k;
    } else {
      EXPECT_THAT(problem_of(results[k]),
                  StartsWith("429 learning-behind: 5 rewards wait to be learned (must be below"))
          << k;
    }
  }
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 5);
}

TEST_F(ServiceTest, no_more_decisions_expire_at_once_than_may_wait_to_be_learned) {
  options_.horizon = 100ms;
  options_.backlog_limit = 5;
  options_.durable_decisions = false;
  const auto service = start();
  {
    Caller caller(*service);
    for (std::uint64_t k = 0; k < 50; ++k) good(caller.select(request_for("u1", k)));
  }
  std::size_t most = 0;
  while (service->status().rewards_expired < 50) most = std::max(most, service->status().backlog);
  EXPECT_LE(most, 5);
  Offset last = 0;
  std::size_t together = 0;  // records of the same time are of the same transaction
  std::size_t most_together = 0;
  std::int64_t time = 0;
  for (const Record& record : service->newest(200)) {
    if (record.kind != RecordKind::expired) continue;
    together = record.time == time && record.offset + 1 == last ? together + 1 : 1;
    most_together = std::max(most_together, together);
    time = record.time;
    last = record.offset;
  }
  EXPECT_LE(most_together, 5);
}

TEST_F(ServiceTest, rewards_are_refused_while_too_many_wait_to_be_learned) {
  options_.backlog_limit = 0;
  const auto service = start();
  Caller caller(*service);
  const Decided decided = good(caller.select(request_for("u1", 1)));
  EXPECT_THAT(problem_of(caller.reward(decided.event, 1.0)),
              AllOf(StartsWith("429 learning-behind: 0 rewards"), HasSubstr("below 0")));
}

TEST_F(ServiceTest, options_that_make_no_sense_are_refused) {
  const auto refused = [&](auto change) -> std::string {
    ServiceOptions options = options_;
    change(options);
    try {
      const Service service(bandit(), nullptr, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused([](auto& it) { it.horizon = 0ms; }), HasSubstr("horizon: 0"));
  EXPECT_THAT(refused([](auto& it) { it.keep = 1h; }), HasSubstr("keep: 3600000 ms (must be at least the horizon"));
  EXPECT_THAT(refused([](auto& it) { it.default_reward = std::nan(""); }), HasSubstr("default_reward: nan"));
  EXPECT_THAT(refused([](auto& it) { it.snapshots_kept = 0; }), HasSubstr("snapshots_kept: 0"));
}

TEST_F(ServiceTest, options_that_a_store_does_not_take_over_are_said) {
  start();
  start();
  EXPECT_TRUE(warnings_.empty());
  Service(bandit({.dimension = 3, .forgetting = {.window = 5}}), nullptr, options_);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("forgetting that it began with")));
}

TEST_F(ServiceTest, another_graph_than_the_store_began_with_is_said) {
  good(Caller(*start()).put_edge("u0", "u9"));
  start();
  EXPECT_TRUE(warnings_.empty());
  // The same one in another order.
  std::vector<Edge> edges = named_cliques().edges();
  Names names;
  for (std::size_t k = 12; k-- > 0;) names.insert(fmt::format("u{}", k));
  for (Edge& edge : edges) edge = {.a = 11 - edge.b, .b = 11 - edge.a, .weight = edge.weight};
  Service(Bandit::gob_lin(Graph(names, edges), {.dimension = 3}), nullptr, options_);
  EXPECT_TRUE(warnings_.empty());
  Service(Bandit::gob_lin(named_cliques(3, 5), {.dimension = 3}), nullptr, options_);
  ASSERT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("graph: 15 users and 30 edges"), HasSubstr("began with"))));
  edges.back().weight = 2.0;
  Service(Bandit::gob_lin(Graph(names, edges), {.dimension = 3}), nullptr, options_);
  EXPECT_EQ(warnings_.size(), 2);
}

TEST_F(ServiceTest, a_clock_far_ahead_does_not_throw_the_log_away) {
  options_.keep = options_.horizon;
  options_.snapshots_kept = 1;
  options_.default_reward = std::nullopt;
  const auto is_kept = [&](std::size_t records) {
    // The log is looked through at once after a start.
    const auto service = start();
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(service->newest(100).size(), records);
    good(Caller(*service).put_item({.item = fmt::format("i{}", records), .context = {1.0, 0.0, 0.0}}));
  };
  {
    const auto service = start();
    Caller caller(*service);
    for (std::uint64_t k = 0; k < 10; ++k) good(caller.reward(good(caller.select(request_for("u1", k))).event, 1.0));
  }
  const auto years_pass = [&] {
    Database database(options_.store / "log.sqlite", {});
    database.run("UPDATE log SET time = time - 100000000000");
  };
  years_pass();
  is_kept(20);
  {
    const std::lock_guard lock(warnings_mutex_);
    EXPECT_THAT(warnings_, testing::Contains(HasSubstr("days ahead of the newest record")));
  }
  // Once more: the clock is still wrong, and the newest record has its time.
  is_kept(21);
  years_pass();
  is_kept(22);
  // Time that is seen to pass counts.
  options_.horizon = 10ms;
  options_.keep = 100ms;
  const auto service = start();
  for (int k = 0; k < 500 && service->newest(100).size() > 1; ++k) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(service->newest(100).size(), 1);
}

TEST_F(ServiceTest, a_store_of_another_bandit_is_refused) {
  start().reset();
  EXPECT_THROW(Service(bandit({.dimension = 4}), nullptr, options_), std::invalid_argument);
  EXPECT_THROW(Service(Bandit::linucb_ind(named_cliques(), {.dimension = 3}), nullptr, options_),
               std::invalid_argument);
}

}  // namespace service_test
}  // namespace goblin::serve
