#include "measurement.hpp"
#include "page.hpp"
#include "tables.hpp"
#include "temporary_folder.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace goblin::bench {
namespace results_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Measurement round_time(const std::string& engine, double users, double seconds) {
  return {.family = "round_time",
          .variant = engine,
          .arguments = {{"users", users}},
          .seconds = seconds,
          .wall_seconds = 2.0 * seconds,
          .iterations = 10,
          .repetitions = 1,
          .label = "",
          .counters = {{"MB", 1.5}}};
}

std::vector<Measurement> three_sizes() {
  return {round_time("dense", 10.0, 1e-3), round_time("dense", 100.0, 1e-1), round_time("dense", 1000.0, 10.0),
          round_time("sparse", 100.0, 1e-3), round_time("sparse", 1000.0, 1e-2)};
}

Setup some_machine() {
  return {.commit = "abc<1>",
          .time = "2026-01-02 03:04",
          .processor = "a \"fast\" one",
          .cores = 3,
          .memory_gigabytes = 24.0,
          .load = 0.25,
          .compiler = "g++ 12"};
}

TEST(BenchResults, exponents_are_slopes_of_logarithms) {
  const std::vector<double> x = {1.0, 10.0, 100.0, 300.0};
  std::vector<double> y;
  for (const double each : x) y.push_back(3.0 * std::pow(each, 1.75));
  EXPECT_NEAR(fitted_exponent(x, y).value(), 1.75, 1e-12);
  EXPECT_FALSE(fitted_exponent(std::span(x).first(2), std::span(y).first(2)));
}

TEST(BenchResults, times_have_three_digits_and_a_unit) {
  EXPECT_EQ(time_words(1.5), "1.5 s");
  EXPECT_EQ(time_words(0.0037123), "3.71 ms");
  EXPECT_EQ(time_words(2.4e-6), "2.4 us");
  EXPECT_EQ(time_words(3e-10), "0.3 ns");
}

TEST(BenchResults, a_row_has_name_time_and_memory) {
  EXPECT_THAT(
      table_row(round_time("dense", 100.0, 1e-3)),
      AllOf(HasSubstr("round_time/dense/users:100 "), HasSubstr(" 1 ms "), HasSubstr(" 2 ms "), HasSubstr(" 1.5 MB")));
}

TEST(BenchResults, a_figure_has_a_line_for_each_variant_and_its_exponent) {
  const auto figures = figures_of(three_sizes());
  ASSERT_THAT(figures, SizeIs(1));
  ASSERT_THAT(figures[0].panels, SizeIs(2));
  const auto& series = figures[0].panels[0].series;
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[0].label, "dense n^{2.00}");
  EXPECT_EQ(series[1].label, "sparse") << "two points have no exponent";
  EXPECT_THAT(series[0].y, ::testing::ElementsAre(1.0, 100.0, 1e4)) << "milliseconds";
}

Measurement counted(const std::string& family, const std::string& variant, std::map<std::string, double> arguments,
                    std::map<std::string, double> counters) {
  return {.family = family,
          .variant = variant,
          .arguments = std::move(arguments),
          .seconds = 1e-3,
          .wall_seconds = 2.0,
          .iterations = 1,
          .repetitions = 1,
          .label = "",
          .counters = std::move(counters)};
}

TEST(BenchResults, rewards_a_second_and_warm_starts_are_drawn) {
  const auto figures =
      figures_of(std::vector{counted("bulk", "dense", {{"batch", 1.0}}, {{"per_second", 4000.0}}),
                             counted("bulk", "dense", {{"batch", 64.0}}, {{"per_second", 9000.0}}),
                             counted("bulk", "local", {{"batch", 1.0}}, {{"per_second", 700.0}}),
                             counted("bulk", "local", {{"batch", 64.0}}, {{"per_second", 800.0}}),
                             counted("warm_start", "sparse", {{"rewards", 100.0}}, {{"cpu_s", 3.0}}),
                             counted("warm_start", "sparse", {{"rewards", 1000.0}}, {{"cpu_s", 4.0}})});
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].name, "bulk");
  EXPECT_EQ(figures[0].columns, 1U);
  ASSERT_THAT(figures[0].panels, SizeIs(1));
  ASSERT_THAT(figures[0].panels[0].series, SizeIs(2));
  EXPECT_EQ(figures[0].panels[0].series[1].label, "local");
  EXPECT_THAT(figures[0].panels[0].series[0].y, ::testing::ElementsAre(4000.0, 9000.0));
  EXPECT_EQ(figures[1].name, "warm-start");
  ASSERT_THAT(figures[1].panels, SizeIs(1)) << "Last.fm was not measured";
  EXPECT_THAT(figures[1].panels[0].series[0].y, ::testing::ElementsAre(3.0, 4.0)) << "of all threads";
}

TEST(BenchResults, tables_have_the_counters_with_their_units) {
  const std::string tables =
      tables_of(std::vector{counted("readers", "sparse", {{"learners", 0.0}}, {{"p50_us", 2.5}, {"p99_us", 1250.0}}),
                            counted("local_round", "", {{"users", 10'000.0}}, {{"edges_p50", 812.0}}),
                            counted("local_hubs", "", {{"users", 10'000.0}}, {{"update_p99", 0.75}})});
  EXPECT_THAT(tables, HasSubstr("<tr><td>readers/sparse/learners:0</td><td class=\"number\">2.5 us</td>"
                                "<td class=\"number\">1.25 ms</td><td class=\"number\"></td></tr>"));
  EXPECT_THAT(tables, AllOf(HasSubstr("<td class=\"number\">812</td>"), HasSubstr("<td class=\"number\">750 us</td>")));
  EXPECT_THAT(tables, Not(HasSubstr("edges that come and go"))) << "not measured";
  EXPECT_EQ(tables_of(three_sizes()), "");
}

TEST(BenchResults, the_json_can_be_read) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(json_of(some_machine(), three_sizes()));
  const simdjson::dom::element read = parser.parse(text);
  EXPECT_EQ(std::string_view(read["commit"]), "abc<1>");
  EXPECT_EQ(std::string_view(read["machine"]["processor"]), "a \"fast\" one");
  EXPECT_EQ(std::uint64_t(read["machine"]["cores"]), 3U);
  EXPECT_EQ(read["rows"].get_array().size(), 5U);
  EXPECT_EQ(double(read["rows"].at(2)["arguments"]["users"]), 1000.0);
  EXPECT_EQ(double(read["rows"].at(2)["seconds"]), 10.0);
  EXPECT_NEAR(double(read["fits"].at(0)["exponent"]), 2.0, 1e-9);
  EXPECT_TRUE(read["lastfm_dense_over_round"].is_null());
}

TEST(BenchResults, the_ratio_of_lastfm_needs_both) {
  Measurement dense{.family = "dense_rank_one", .variant = "", .arguments = {}, .label = "", .counters = {}};
  dense.counters["scaled_updates"] = 0.75;
  Measurement round{
      .family = "round_lastfm", .variant = "", .arguments = {}, .seconds = 3e-3, .label = "", .counters = {}};
  round.counters["score_error"] = 1e-10;
  const std::vector<Measurement> both = {dense, round};
  EXPECT_NEAR(lastfm_ratio(both).value().ratio(), 250.0, 1e-9);
  EXPECT_THAT(lastfm_ratio(both)->words(), HasSubstr("250 times faster"));
  EXPECT_FALSE(lastfm_ratio(std::span(both).first(1)));
}

TEST(BenchResults, the_page_needs_nothing_else) {
  const TemporaryFolder folder;
  write_results(some_machine(), three_sizes(), folder / "new");
  const std::string page = content_of(folder / "new/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("abc&lt;1>"), HasSubstr("<td>round_time/sparse/users:1000</td>"),
                          Not(HasSubstr("src=")), Not(HasSubstr("<link"))));
  EXPECT_THAT(content_of(folder / "new/results.json"), HasSubstr("\"rows\""));
}

TEST(BenchResults, the_page_has_what_was_measured_of_the_server) {
  const TemporaryFolder folder;
  write_results(some_machine(), three_sizes(), folder.path());
  EXPECT_THAT(content_of(folder / "index.html"), HasSubstr("<!-- served: begin -->\n<!-- served: end -->\n"));
  write_file(folder / "served.html", "<h2>The server</h2>\n");
  write_results(some_machine(), three_sizes(), folder.path());
  EXPECT_THAT(content_of(folder / "index.html"),
              HasSubstr("<!-- served: begin -->\n<h2>The server</h2>\n<!-- served: end -->\n"));
}

}  // namespace results_test
}  // namespace goblin::bench
