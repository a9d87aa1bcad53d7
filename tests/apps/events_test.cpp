#include "events.hpp"

#include "support/tea_and_soup.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::app {
namespace events_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string error_of(const std::string& line, const std::shared_ptr<const Items>& items = test::tea_and_soup()) {
  EventReader reader(2, items);
  try {
    (void)reader.read(line);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(EventReader, items_stand_for_contexts) {
  EventReader reader(2, test::tea_and_soup());
  const Event& event = reader.read(R"({"user": "ann", "items": ["soup", 7, "tea", "7"], "rewards": [1, 2, 3, 4]})");
  EXPECT_EQ(event.kind, Event::Kind::decide_and_learn);
  EXPECT_THAT(event.items, ElementsAre("soup", "7", "tea", "7"));
  EXPECT_THAT(event.contexts, ElementsAre(0.0, 2.0, -1.0, 0.5, 1.0, 0.0, -1.0, 0.5));
  EXPECT_THAT(event.rewards, ElementsAre(1.0, 2.0, 3.0, 4.0));

  (void)reader.read(R"({"user": "ann", "items": ["soup"]})");
  EXPECT_EQ(event.kind, Event::Kind::decide);
  EXPECT_THAT(event.items, ElementsAre("soup"));
  EXPECT_THAT(event.rewards, IsEmpty());

  (void)reader.read(R"({"user": 3, "item": "tea", "reward": 0.5})");
  EXPECT_EQ(event.kind, Event::Kind::learn);
  EXPECT_EQ(event.user, "3");
  EXPECT_THAT(event.items, ElementsAre("tea"));
  EXPECT_THAT(event.context(event.action, 2), ElementsAre(1.0, 0.0));
  EXPECT_THAT(event.rewards, ElementsAre(0.5));

  (void)reader.read(R"({"user": "ann", "contexts": [[3, 4]]})");
  EXPECT_THAT(event.items, IsEmpty());
  EXPECT_THAT(event.contexts, ElementsAre(3.0, 4.0));
}

TEST(EventReader, a_logged_decision_says_what_was_shown) {
  EventReader reader(2, test::tea_and_soup());
  const Event& event = reader.read(
      R"({"user": "ann", "items": ["soup", "tea"], "action": 1, "reward": -2, "probability": 0.25, "at": "noon"})");
  EXPECT_EQ(event.kind, Event::Kind::logged);
  EXPECT_EQ(event.action, 1);
  EXPECT_EQ(event.probability, 0.25);
  EXPECT_THAT(event.rewards, ElementsAre(-2.0));
  EXPECT_THAT(event.context(event.action, 2), ElementsAre(1.0, 0.0));

  (void)reader.read(R"({"action": 0, "reward": 1, "probability": 1, "contexts": [[5, 6], [7, 8]], "user": "ann"})");
  EXPECT_EQ(event.kind, Event::Kind::logged);
  EXPECT_EQ(event.probability, 1.0);
  EXPECT_THAT(event.context(event.action, 2), ElementsAre(5.0, 6.0));

  (void)reader.read(R"({"user": "ann", "contexts": [[5, 6], [7, 8]], "action": 1, "reward": 1})");
  EXPECT_EQ(event.kind, Event::Kind::logged);
  EXPECT_EQ(event.probability, std::nullopt);

  // Nothing of it is left in the next event.
  (void)reader.read(R"({"user": "ann", "context": [5, 6], "reward": 1})");
  EXPECT_EQ(event.kind, Event::Kind::learn);
  EXPECT_EQ(event.action, 0);
}

TEST(EventReader, of_members_that_stand_there_twice_the_first_counts) {
  EventReader reader(1);
  const Event& event = reader.read(R"({"user": "ann", "context": [1], "reward": 1, "user": "bob", "reward": 2})");
  EXPECT_EQ(event.user, "ann");
  EXPECT_THAT(event.rewards, ElementsAre(1.0));
}

// One that is shown needs no list of candidates; what else its line has is passed over.
TEST(EventReader, a_reward_to_learn_may_have_more_members) {
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "tea", "reward": 1, "action": "click", "at": null})"), "no error");
}

TEST(EventReader, names_the_field_the_value_and_the_bound) {
  const auto logged = [](const std::string& members) {
    return error_of(R"({"user": "ann", "contexts": [[1, 0], [0, 1]], )" + members + "}");
  };
  const std::string action = " (must be a whole number from 0 to 1: which of the candidates was shown)";
  EXPECT_EQ(logged(R"("action": 2, "reward": 1)"), "'action' is 2" + action);
  EXPECT_EQ(logged(R"("action": -1, "reward": 1)"), "'action' is -1" + action);
  EXPECT_EQ(logged(R"("action": 0.5, "reward": 1)"), "'action' is 0.5" + action);
  EXPECT_EQ(logged(R"("action": "tea", "reward": 1)"), "'action' is \"tea\"" + action);
  EXPECT_EQ(logged(R"("action": null, "reward": 1)"), "'action' is null" + action);
  EXPECT_EQ(logged(R"("action": 18446744073709551615, "reward": 1)"), "'action' is 18446744073709551615" + action);
  EXPECT_EQ(logged(R"("action": 1)"), "has an 'action' but no 'reward' of what was shown");
  EXPECT_EQ(logged(R"("action": 1, "reward": null)"), "'reward' is not a number");
  EXPECT_EQ(logged(R"("action": 1, "rewards": [1, 0])"),
            "has 'rewards' beside 'action' (expected 'reward', that of what was shown)");

  const std::string probability = " (must be a number above 0 and at most 1, or be left out where nobody knows it)";
  for (const char* value : {"0", "-0.5", "1.5", "2", "\"0.5\"", "null", "true", "[0.5]"}) {
    EXPECT_EQ(logged(std::string(R"("action": 1, "reward": 1, "probability": )") + value),
              "'probability' is " + std::string(value) + probability);
  }
  EXPECT_EQ(logged(R"("probability": 0.5)"),
            "has a 'probability' but no 'action' that says which of the 'contexts' was shown");
  EXPECT_EQ(logged(R"("reward": 0.5)"),
            "has 'reward' beside 'contexts' (expected 'rewards', one for each of them, or an 'action' that says which "
            "of them was shown)");
  EXPECT_EQ(logged(R"("items": ["tea", "soup"])"), "has both 'contexts' and 'items' (must have one of them)");
  EXPECT_EQ(logged(R"("item": "tea")"), "has both 'contexts' and 'item' (must have one of them)");
}

TEST(EventReader, items_have_to_be_known) {
  const auto items = [](const std::string& list) { return error_of(R"({"user": "ann", "items": )" + list + "}"); };
  EXPECT_EQ(items(R"(["tea", "cake"])"),
            "items[1] is 'cake', which is not in items.tsv (must be one of its 3 items: add a line with its numbers)");
  EXPECT_EQ(items("[]"), "'items' is empty (must hold at least 1 candidate)");
  EXPECT_EQ(items("\"tea\""), "'items' is not an array");
  EXPECT_EQ(items("[\"\"]"), "items[0] is empty");
  EXPECT_EQ(items("[null]"), "items[0] is null (must be a text or a whole number)");
  EXPECT_EQ(items("[[1, 0]]"), "items[0] is [1,0] (must be a text or a whole number)");
  EXPECT_EQ(items(R"(["tea"], "rewards": [1, 2])"), "'rewards' has 2 numbers (must be one for each of the 1 items)");
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "cake", "reward": 1})"),
            "'item' is 'cake', which is not in items.tsv (must be one of its 3 items: add a line with its numbers)");
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "tea"})"), "has an 'item' but no 'reward'");
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "tea", "rewards": [1]})"),
            "has 'rewards' beside 'item' (expected 'reward')");
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "tea", "context": [1, 0], "reward": 1})"),
            "has both 'context' and 'item' (must have one of them)");
  EXPECT_EQ(error_of(R"({"user": "ann", "items": ["tea"]})", nullptr),
            "items[0] has no context (--items FILE has to say what items are: item <tab> number <tab> number ...)");
  EXPECT_EQ(error_of(R"({"user": "ann", "item": "tea", "reward": 1})", nullptr),
            "'item' has no context (--items FILE has to say what items are: item <tab> number <tab> number ...)");
}

TEST(EventReader, items_have_the_dimension) {
  EXPECT_EQ(dimension_with(nullptr, 5), 5);
  EXPECT_EQ(dimension_with(test::tea_and_soup().get(), 0), 2);
  EXPECT_EQ(dimension_with(test::tea_and_soup().get(), 2), 2);
  EXPECT_THROW(EventReader(3, test::tea_and_soup()), std::invalid_argument);
}

}  // namespace events_test
}  // namespace goblin::app
