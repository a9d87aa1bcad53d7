#include "goblin/report/explanation.hpp"

#include <algorithm>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::report {
namespace explanation_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Explanation three_users() {
  Explanation explanation;
  explanation.mean = 0.25;
  explanation.width = 0.5;
  explanation.width_shares = {.own = 0.125, .others = 0.25, .prior = 0.625};
  explanation.contributions = {{.user = 0, .value = 0.5, .rewards = 7}, {.user = 2, .value = -0.25, .rewards = 3}};
  explanation.edges = {{0, 1, 2.0}, {1, 2, 1.0}};
  return explanation;
}

std::string by_number(NodeId user) { return std::string("user-") + std::to_string(user); }

TEST(ExplanationReport, table_has_every_contribution) {
  EXPECT_EQ(table(three_users(), by_number),
            "mean 0.25, width 0.5\n"
            "the width's square: 12.5 % from noise in own rewards, 25.0 % from that in others', 62.5 % from the prior\n"
            "\n"
            "user    contribution  rewards\n"
            "user-0      0.500000        7\n"
            "user-2     -0.250000        3\n");
  Explanation nothing;
  EXPECT_THAT(table(nothing, by_number), HasSubstr("nobody's rewards count for this"));
}

TEST(ExplanationReport, drawing_has_everybody_once_and_colours_by_contribution) {
  const std::string drawn = svg(three_users(), by_number);
  const std::regex circle("<circle [^>]*r=\"([0-9]+)\" fill=\"(#[0-9a-f]+)\"");
  std::vector<std::string> found;
  for (std::sregex_iterator it(drawn.begin(), drawn.end(), circle), end; it != end; ++it) {
    found.push_back((*it)[1].str() + (*it)[2].str());
  }
  // The user; the other who contributes, half as much and against it; and the one on the way.
  EXPECT_EQ(found, (std::vector<std::string>{"17#2b83e0", "17#e7ab8f", "6#eef0f3"}));
  EXPECT_THAT(drawn, AllOf(HasSubstr("stroke-width=\"4.0\"><title>weight 2<"), HasSubstr(">user-1<")));
  EXPECT_EQ(svg(three_users(), by_number), drawn);
}

TEST(ExplanationReport, names_may_be_anything) {
  const auto drawn = [](const std::string& name) { return svg(three_users(), [&](NodeId /*user*/) { return name; }); };
  EXPECT_THAT(drawn("<&>"), AllOf(HasSubstr("&lt;&amp;>"), Not(HasSubstr("<&"))));
  EXPECT_THAT(drawn("a\xff\x01z"), HasSubstr("a\uFFFD\uFFFDz"));
  EXPECT_THAT(drawn("\u00fc\u20ac\U0001F600"), HasSubstr("\u00fc\u20ac\U0001F600"));
  EXPECT_THAT(drawn("\xed\xa0\x80"), HasSubstr("\uFFFD\uFFFD\uFFFD"));  // a surrogate
  EXPECT_THAT(drawn("\xc3"), HasSubstr("\uFFFD"));                      // cut off
  EXPECT_THAT(drawn(std::string(100, 'x')), AllOf(HasSubstr("xxx\u2026"), Not(HasSubstr(std::string(21, 'x')))));
}

}  // namespace explanation_test
}  // namespace goblin::report
