#include "serve/requests.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace http_requests_test {

constexpr RequestLimits limits{
    .dimension = 2, .most_candidates = 4, .most_name_bytes = 9, .most_rewards = 3, .most_friends = 3};

/// A body with the bytes behind it that the parser may read.
class Body {
 public:
  explicit Body(std::string text) : text_(std::move(text)) { text_.reserve(text_.size() + body_padding); }
  operator std::string_view() const { return text_; }

 private:
  std::string text_;
};

template <typename Value>
std::string words(const Result<Value>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem == nullptr ? "good" : fmt::format("{} {}: {}", problem->status, problem->type, problem->detail);
}

class HttpRequests : public ::testing::Test {
 protected:
  SelectRequest selected(const std::string& text) {
    auto result = reader.select(Body(text));
    EXPECT_EQ(words(result), "good") << text;
    const auto* request = std::get_if<SelectRequest>(&result);
    return request == nullptr ? SelectRequest{} : *request;
  }
  std::string refused(const std::string& text) { return words(reader.select(Body(text))); }

  RequestReader reader{limits};
};

TEST_F(HttpRequests, contexts_are_read) {
  const auto request = selected(R"({"user": "ann", "contexts": [[1, 0.50], [-2e-1, 3]], "event": "e1"})");
  EXPECT_EQ(request.user, "ann");
  EXPECT_EQ(request.contexts, (std::vector<double>{1, 0.5, -0.2, 3}));
  EXPECT_EQ(request.event, "e1");
  EXPECT_TRUE(request.allowed.empty());
}

TEST_F(HttpRequests, contexts_are_read_alike_on_their_own_and_with_the_rest) {
  // Where a space stands before the colon, the body is parsed as a whole.
  for (const char* numbers : {"[[1,2]]", "[[0.1,-0.25],[3e-5,4E2]]", "[ [ 1 , 2 ]\n]", "[[1,2],[3,4],[5,6],[7,8]]",
                              "[[-0.0,123456789012345678]]", "[[0.123456,0.30000000000000004]]"}) {
    const auto quick = selected(fmt::format(R"({{"user":"a","contexts":{},"event":"e"}})", numbers));
    const auto whole = selected(fmt::format(R"({{"user":"a","contexts" :{},"event":"e"}})", numbers));
    EXPECT_EQ(quick.user, "a");
    EXPECT_EQ(quick.event, "e");
    EXPECT_FALSE(quick.contexts.empty()) << numbers;
    EXPECT_EQ(quick.contexts, whole.contexts) << numbers;
  }
  for (const char* wrong : {"[]", "[[]]", "[[1]]", "[[1,2,3]]", "[[1,2],[3]]", "[[1,null]]", "[[1,01]]", "[[1,2]",
                            "[[1,2]]]", "[[1,1e999]]", "[[1,2],[1,2],[1,2],[1,2],[1,2]]", "[[1,2]],\"contexts\":[]",
                            "[[1,2]],\"contexts\":[[3,4]]", "[[1,2]],\"other\":1", "[[1,2]],\"items\":[\"tea\"]"}) {
    const std::string quick = refused(fmt::format(R"({{"user":"a","contexts":{}}})", wrong));
    EXPECT_EQ(quick.substr(0, 3), "400") << wrong;
    EXPECT_EQ(quick.substr(0, 15), refused(fmt::format(R"({{"user":"a","contexts" :{}}})", wrong)).substr(0, 15))
        << wrong;
  }
  // What looks like contexts, and is something else.
  EXPECT_EQ(selected(R"({"user":"\"contexts","contexts":[[1,2]]})").user, "\"contexts");
  EXPECT_EQ(refused(R"({"user":"a","more":{"contexts":[[1,2]]},"contexts":[]})").substr(0, 3), "400");
  EXPECT_EQ(refused(R"({"user":"a","allowed":[{"contexts":[[1,2]]}],"contexts":[]})").substr(0, 3), "400");
  EXPECT_EQ(refused(R"({"a\"contexts":[[1,2]],"user":"a"})").substr(0, 3), "400");
  EXPECT_EQ(refused(R"({"user":"a,"contexts":[[1,2]]})").substr(0, 3), "400");
}

TEST_F(HttpRequests, items_are_read) {
  const auto request = selected(R"({"items":["tea", "so]\"up"],"user":"items","allowed":[false,1]})");
  EXPECT_EQ(request.items, (std::vector<std::string>{"tea", "so]\"up"}));
  EXPECT_EQ(request.allowed, (std::vector<std::uint8_t>{0, 1}));
}

TEST_F(HttpRequests, what_is_wrong_is_named_with_value_and_bound) {
  EXPECT_EQ(refused(""), "400 malformed-json: the body is empty (must be JSON)");
  EXPECT_EQ(refused("[1]"), "400 invalid-field: the body is an array (must be an object)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"kontexts":1})"),
            "400 unknown-field: 'kontexts' is not a field of this call (its fields are 'user', 'contexts', 'items', "
            "'allowed', 'event' and 'after')");
  EXPECT_EQ(refused(R"({"contexts":[[1,2]]})"), "400 missing-field: 'user' is missing");
  EXPECT_EQ(refused(R"({"user":"a"})"), "400 missing-field: 'contexts' or 'items' is missing");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"items":["x"]})"),
            "400 invalid-field: 'contexts' and 'items' are both there (must be one of them)");
  EXPECT_EQ(refused(R"({"user":"a","user":"b","contexts":[[1,2]]})"), "400 invalid-field: 'user' stands there twice");
  EXPECT_EQ(refused(R"({"user":7,"contexts":[[1,2]]})"), "400 invalid-field: 'user' is 7 (must be a text)");
  EXPECT_EQ(refused(R"({"user":"","contexts":[[1,2]]})"),
            "400 invalid-field: 'user' is empty (must have at least 1 byte)");
  EXPECT_EQ(refused(R"({"user":"1234567890","contexts":[[1,2]]})"),
            "400 invalid-field: 'user' has 10 bytes (must have at most 9)");
  EXPECT_EQ(refused(R"({"user":"a\tb","contexts":[[1,2]]})"),
            "400 invalid-field: 'user' has the control character U+0009 in it (must have none)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[]})"),
            "400 invalid-field: 'contexts' is empty (must hold at least 1 candidate)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2],[1,2],[1,2],[1,2],[1,2]]})"),
            "400 invalid-field: 'contexts' has 5 candidates (must have at most 4)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2],[3]]})"),
            "400 wrong-dimension: contexts[1] has 1 number (must have 2, the dimension)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2,3]]})"),
            "400 wrong-dimension: contexts[0] has 3 numbers (must have 2, the dimension)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,"2"]]})"),
            "400 invalid-field: contexts[0][1] is \"2\" (must be a number)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,null]]})"),
            "400 invalid-field: contexts[0][1] is null (must be a number)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[1,2]})"),
            "400 invalid-field: contexts[0] is 1 (must be an array of 2 numbers)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"allowed":[true,true]})"),
            "400 invalid-field: 'allowed' has 2 entries (must have one for each of the 1 candidates)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"allowed":[2]})"),
            "400 invalid-field: allowed[0] is 2 (must be true or false, or 1 or 0)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"allowed":[0]})"),
            "400 invalid-field: 'allowed' allows none (must allow at least 1 candidate)");
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]],"event":"g-1"})"),
            "400 invalid-field: 'event' is \"g-1\" (must not begin with \"g-\": such are the names that the server "
            "gives)");
}

TEST_F(HttpRequests, malformed_json_is_told_with_its_place) {
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2],[3,NaN]]})").find("400 malformed-json: contexts[1][1], byte 34: "),
            0);
  EXPECT_NE(refused(R"({"user":"a","contexts":[[1,1e999]]})").find("contexts[0][1]: 1e999"), std::string::npos);
  EXPECT_EQ(refused(R"({"user":"a")").find("400 malformed-json: "), 0);
  EXPECT_EQ(refused("{\"user\":\"\xff\",\"contexts\":[[1,2]]}").find("400 malformed-json: "), 0);
  EXPECT_EQ(refused(R"({"user":"\ud800","contexts":[[1,2]]})").find("400 malformed-json: "), 0);
  EXPECT_EQ(refused(R"({"user":"a","contexts":[[1,2]]} x)").find("400 malformed-json: "), 0);
  EXPECT_EQ(refused(std::string(100'000, '[')).find("400 malformed-json: "), 0);
  EXPECT_EQ(refused(std::string(1000, '[')).find("400 malformed-json: "), 0);
}

TEST_F(HttpRequests, a_ranking_has_a_number_of_places) {
  const auto ranked = reader.rank(Body(R"({"user":"a","items":["x","y"],"k":2})"));
  ASSERT_EQ(words(ranked), "good");
  EXPECT_EQ(std::get<SelectRequest>(ranked).k, 2);
  EXPECT_EQ(words(reader.rank(Body(R"({"user":"a","items":["x"]})"))), "400 missing-field: 'k' is missing");
  EXPECT_EQ(words(reader.rank(Body(R"({"user":"a","items":["x"],"k":0})"))),
            "400 invalid-field: 'k' is 0 (must be a whole number from 1 to 4)");
  EXPECT_EQ(words(reader.rank(Body(R"({"user":"a","items":["x"],"k":1.5})"))),
            "400 invalid-field: 'k' is 1.5 (must be a whole number from 1 to 4)");
  EXPECT_EQ(refused(R"({"user":"a","items":["x"],"k":1})").find("400 unknown-field: 'k' "), 0);
}

TEST_F(HttpRequests, a_reward_is_for_an_event) {
  const auto reward = reader.reward(Body(R"({"event":"g-17","reward":-0.5})"));
  ASSERT_EQ(words(reward), "good");
  EXPECT_EQ(std::get<RewardRequest>(reward).event, "g-17");
  EXPECT_EQ(std::get<RewardRequest>(reward).reward, -0.5);
  EXPECT_EQ(words(reader.reward(Body(R"({"event":"e"})"))), "400 missing-field: 'reward' is missing");
  EXPECT_EQ(words(reader.reward(Body(R"({"reward":1})"))), "400 missing-field: 'event' is missing");
  EXPECT_EQ(words(reader.reward(Body(R"({"event":"e","reward":"1"})"))),
            "400 invalid-field: 'reward' is \"1\" (must be a number)");
  EXPECT_EQ(words(reader.reward(Body(R"({"event":"e","reward":1,"user":"a"})"))),
            "400 unknown-field: 'user' is not a field of this call (its fields are 'event' and 'reward')");
}

TEST_F(HttpRequests, each_of_many_rewards_has_its_own_problem) {
  const auto result = reader.rewards(Body(
      R"([{"event":"e","reward":1},{"user":"a","context":[1,2],"reward":2},{"user":"a","context":[1],"reward":2}])"));
  ASSERT_EQ(words(result), "good");
  const auto& each = std::get<std::vector<Result<RewardRequest>>>(result);
  ASSERT_EQ(each.size(), 3);
  EXPECT_EQ(std::get<RewardRequest>(each[0]).event, "e");
  EXPECT_EQ(std::get<RewardRequest>(each[1]).context, (std::vector<double>{1, 2}));
  EXPECT_EQ(words(each[2]), "400 wrong-dimension: context has 1 number (must have 2, the dimension)");
  const auto one = [&](const std::string& text) {
    const auto all = reader.rewards(Body("[" + text + "]"));
    const auto* list = std::get_if<std::vector<Result<RewardRequest>>>(&all);
    return list == nullptr ? words(all) : words((*list)[0]);
  };
  EXPECT_EQ(one("7"), "400 invalid-field: is 7 (must be an object)");
  EXPECT_EQ(one(R"({"reward":1})"), "400 missing-field: 'event' or 'user' is missing");
  EXPECT_EQ(one(R"({"user":"a","reward":1})"), "400 missing-field: 'context' or 'item' is missing");
  EXPECT_EQ(one(R"({"user":"a","item":"x","context":[1,2],"reward":1})"),
            "400 invalid-field: 'context' and 'item' are both there (must be one of them)");
  EXPECT_EQ(one(R"({"event":"e","item":"x","reward":1})"),
            "400 invalid-field: 'event' and 'item' are both there (an event has its own user and context)");
  EXPECT_EQ(one(R"({"user":"a","item":"x","reward":1})"), "good");
  EXPECT_EQ(one("1,2,3,4"), "400 invalid-field: the body has more than 3 rewards (send several requests)");
  EXPECT_EQ(one(""), "400 invalid-field: the body is an empty array (must hold at least 1 reward)");
  EXPECT_EQ(words(reader.rewards(Body("{}"))), "400 invalid-field: the body is an object (must be an array)");
}

TEST_F(HttpRequests, a_user_may_have_friends_and_a_cluster) {
  const auto user = [&](const std::string& text) { return reader.user("ann", Body(text)); };
  const auto request = [&](const std::string& text) { return std::get<UserRequest>(user(text)); };
  EXPECT_EQ(request("").user, "ann");
  EXPECT_TRUE(request("{}").friends.empty());
  using Friends = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(request(R"({"friends":["bob","cat"]})").friends, (Friends{{"bob", 1}, {"cat", 1}}));
  EXPECT_EQ(request(R"({"friends":{"bob":1.5}})").friends, (Friends{{"bob", 1.5}}));
  EXPECT_EQ(request(R"({"cluster":3})").cluster, NodeId{3});
  EXPECT_EQ(words(user(R"({"friends":"bob"})")),
            "400 invalid-field: 'friends' is \"bob\" (must be an array of users, or an object with their weights)");
  EXPECT_EQ(words(user(R"({"friends":{"bob":0}})")), "400 invalid-field: friends['bob'] is 0 (must be above 0)");
  EXPECT_EQ(words(user(R"({"friends":["a","b","c","d"]})")),
            "400 invalid-field: 'friends' has more than 3 entries (add the others with PUT /v1/edges)");
  EXPECT_EQ(words(user(R"({"friends":[1]})")), "400 invalid-field: friends[0] is 1 (must be a text)");
  EXPECT_EQ(words(user(R"({"cluster":-1})")),
            "400 invalid-field: 'cluster' is -1 (must be a whole number from 0 to 4294967294)");
}

TEST_F(HttpRequests, a_friend_stands_there_once) {
  const auto refused_user = [&](const std::string& text) { return words(reader.user("ann", Body(text))); };
  EXPECT_EQ(refused_user(R"({"friends":["bob","cat","bob"]})"),
            "400 invalid-field: friends[2] is \"bob\", who stands there twice (must be once)");
  EXPECT_EQ(refused_user(R"({"friends":{"bob":1,"cat":1,"bob":2}})"),
            "400 invalid-field: friends['bob'] stands there twice (must be once)");
}

TEST_F(HttpRequests, numbers_may_be_as_large_as_doubles_can_be) {
  const auto reward = [&](const std::string& number) {
    const auto result = reader.reward(Body(fmt::format(R"({{"event":"1","reward":{}}})", number)));
    EXPECT_EQ(words(result), "good") << number;
    const auto* request = std::get_if<RewardRequest>(&result);
    return request == nullptr ? 0.0 : request->reward;
  };
  EXPECT_EQ(reward("18446744073709551615"), 18446744073709551615.0);
  EXPECT_EQ(reward("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(reward("-9223372036854775809"), -9223372036854775809.0);
  EXPECT_EQ(reward("1" + std::string(99, '0')), 1e99);
  EXPECT_EQ(reward("-1" + std::string(30, '0') + ".5"), -1e30);
  EXPECT_EQ(reward("1" + std::string(30, '0') + "e-30"), 1.0);
  const std::string large = "1" + std::string(40, '0');
  EXPECT_EQ(selected(fmt::format(R"({{"user":"a","contexts":[[1,{}]]}})", large)).contexts[1], 1e40);
  EXPECT_EQ(selected(fmt::format(R"({{"user":"a","contexts" :[[1,{}]]}})", large)).contexts[1], 1e40);
  EXPECT_EQ(words(reader.rank(Body(R"({"user":"a","contexts":[[1,2]],"k":18446744073709551616})"))),
            "400 invalid-field: 'k' is 1.8446744073709552e+19 (must be a whole number from 1 to 4)");
  // Digits in texts are no numbers.
  EXPECT_EQ(words(reader.reward(Body(fmt::format(R"({{"\"{0}":{0},"event":"e","reward":1}})", large)))),
            fmt::format("400 unknown-field: '\"{}' is not a field of this call (its fields are 'event' and 'reward')",
                        large));
  EXPECT_EQ(words(reader.reward(Body(R"({"event":"e","reward":1e999})"))),
            "400 invalid-field: reward: 1e999 (must be between -1.8e308 and 1.8e308)");
  EXPECT_EQ(words(reader.reward(Body(fmt::format(R"({{"event":"e","reward":-9{}}})", std::string(400, '9'))))),
            "400 invalid-field: reward: a number of 402 characters (must be between -1.8e308 and 1.8e308)");
  EXPECT_EQ(refused(R"({"user":"a","contexts" :[[1,1e999]]})"),
            "400 invalid-field: contexts[0][1]: 1e999 (must be between -1.8e308 and 1.8e308)");
  EXPECT_EQ(words(reader.reward(Body(R"({"event":"e","reward":01})"))).substr(0, 18), "400 malformed-json");
}

TEST_F(HttpRequests, items_edges_and_explanations) {
  EXPECT_EQ(std::get<ItemView>(reader.item("tea", Body(R"({"context":[1,2]})"))).context, (std::vector<double>{1, 2}));
  EXPECT_EQ(words(reader.item("tea", Body("{}"))), "400 missing-field: 'context' is missing");
  EXPECT_EQ(std::get<double>(reader.edge(Body(""))), 1.0);
  EXPECT_EQ(std::get<double>(reader.edge(Body("{}"))), 1.0);
  EXPECT_EQ(std::get<double>(reader.edge(Body(R"({"weight":0.25})"))), 0.25);
  EXPECT_EQ(words(reader.edge(Body(R"({"weight":-1})"))), "400 invalid-field: 'weight' is -1 (must be above 0)");
  EXPECT_EQ(std::get<ExplainRequest>(reader.explain(Body(R"({"user":"a","item":"x","k":3})"))).k, 3);
  EXPECT_EQ(words(reader.explain(Body(R"({"user":"a"})"))), "400 missing-field: 'context' or 'item' is missing");
  EXPECT_EQ(words(reader.explain(Body(R"({"user":"a","item":"x","k":1001})"))),
            "400 invalid-field: 'k' is 1001 (must be a whole number from 1 to 1000)");
}

}  // namespace http_requests_test
}  // namespace goblin::serve
