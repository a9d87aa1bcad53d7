#include "goblin/report/figure.hpp"

#include "goblin/bandit/policy.hpp"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::report {
namespace figure_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Figure two_lines() {
  return {
      .name = "two-lines",
      .caption = "",
      .panels =
          {{.title = "it's one",
            .x_label = "x",
            .y_label = "y",
            .series =
                {{.label = "gob.lin",
                  .colour = "#010203",
                  .x = {1.0, 2.0},
                  .y = {3.0, 4.0},
                  .low = {2.5, 3.5},
                  .high = {3.5, 4.5}},
                 {.label = "other", .colour = "#040506", .x = {1.0, 2.0}, .y = {4.0, 4.01}, .low = {}, .high = {}}}}},
      .columns = 1};
}

TEST(Figure, every_policy_has_a_colour_of_its_own) {
  std::set<std::string_view> colours = {colour_of("something else")};
  for (const PolicyInfo& info : policy_table) {
    colours.insert(colour_of(info.name));
    EXPECT_EQ(colour_of(info.name), colour_of(std::string(info.name).append(" (number of clusters)")));
  }
  EXPECT_EQ(colours.size(), policy_table.size() + 1);
}

TEST(Figure, the_script_draws_every_file) {
  const Figure figure = two_lines();
  const std::string script = gnuplot_script(std::span(&figure, 1));
  EXPECT_THAT(script, AllOf(HasSubstr("set output 'two-lines-1.svg'"), HasSubstr("set output 'two-lines.svg'"),
                            HasSubstr("set output 'two-lines.pdf'"), HasSubstr("'it''s one'"),
                            HasSubstr("filledcurves fillcolor rgb '#010203'"),
                            Not(HasSubstr("filledcurves fillcolor rgb '#040506'"))));
}

TEST(Figure, labels_of_lines_that_end_together_stay_apart) {
  const Figure figure = two_lines();
  const std::string script = gnuplot_script(std::span(&figure, 1));
  const auto height_of = [&](const std::string& label) {
    const auto at = script.find("set label '" + label + "' at graph 1.015,");
    return std::stod(script.substr(script.find(',', at) + 1));
  };
  EXPECT_GT(height_of("other") - height_of("gob.lin"), 0.05);
}

TEST(Figure, a_label_can_stand_where_its_line_ends) {
  Figure figure = two_lines();
  figure.panels[0].series[1].label_at_end = true;
  EXPECT_THAT(gnuplot_script(std::span(&figure, 1)), HasSubstr("set label 'other' at graph 1.015,"));
  figure.panels[0].series[1].x = {1.0, 1.5};
  EXPECT_THAT(gnuplot_script(std::span(&figure, 1)), AllOf(HasSubstr("set label 'other' at first 1.5,4.01 center"),
                                                           HasSubstr("set label 'gob.lin' at graph ")));
}

TEST(Figure, long_numbers_at_the_axis_are_powers_of_ten) {
  Figure figure = two_lines();
  figure.panels[0].log_x = true;
  const auto script_to = [&](double last) {
    for (Series& series : figure.panels[0].series) series.x = {100.0, last};
    return gnuplot_script(std::span(&figure, 1));
  };
  EXPECT_THAT(script_to(10'000.0), Not(HasSubstr("set format x '10^{%L}'")));
  EXPECT_THAT(script_to(1'000'000.0), HasSubstr("set format x '10^{%L}'"));
}

TEST(Figure, rows_of_csv) {
  std::ostringstream out;
  write_csv(out, two_lines());
  EXPECT_EQ(out.str(),
            "figure,panel,series,x,y,low,high\n"
            "two-lines,\"it's one\",\"gob.lin\",1,3,2.5,3.5\n"
            "two-lines,\"it's one\",\"gob.lin\",2,4,3.5,4.5\n"
            "two-lines,\"it's one\",\"other\",1,4,,\n"
            "two-lines,\"it's one\",\"other\",2,4.01,,\n");
}

TEST(InlineSvg, takes_the_colour_of_the_page) {
  const std::string svg = inline_svg(
      "<?xml version=\"1.0\"?>\n<svg width=\"1\">\n<title>Gnuplot</title>\n<g id=\"a\" color=\"black\" "
      "stroke=\"black\"><text fill=\"black\">1</text></g></svg>\n",
      "f-1", "a < b");
  EXPECT_EQ(svg,
            "<svg role=\"img\" aria-label=\"a &lt; b\" width=\"1\">\n\n<g id=\"f-1-a\" stroke=\"currentColor\"><text "
            "fill=\"currentColor\">1</text></g></svg>");
}

}  // namespace figure_test
}  // namespace goblin::report
