#include "support/command.hpp"

#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace reproduce_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* small_run = "reproduce cliques --quick --rounds 20 --seeds 2 ";

using Row = std::map<std::string, std::string>;

/// The rows of a CSV file, by the names of its columns.
std::vector<Row> rows_of(const std::string& csv) {
  const auto fields_of = [](const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return fields;
  };
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  const auto names = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto fields = fields_of(line);
    EXPECT_EQ(fields.size(), names.size()) << line;
    Row row;
    for (std::size_t k = 0; k < names.size(); ++k) row[names[k]] = fields[k];
    rows.push_back(row);
  }
  return rows;
}

class ReproduceCommand : public test::Command {
 protected:
  /// A release in the form of Last.fm's with enough of everything: 210 users in a ring of friends, 90 artists, 60 tags.
  void write_ring_release() const {
    std::string artists = "id\tname\turl\tpictureURL\n";
    std::string tags = "tagID\ttagValue\n";
    std::string friends = "userID\tfriendID\n";
    std::string listened = "userID\tartistID\tweight\n";
    std::string tagged = "userID\tartistID\ttagID\tday\tmonth\tyear\n";
    for (int tag = 0; tag < 60; ++tag) tags += fmt::format("{0}\tword{0}\n", tag);
    for (int artist = 0; artist < 90; ++artist) {
      artists += fmt::format("{0}\tartist{0}\tu\tp\n", artist);
      for (int k = 0; k < 4; ++k) tagged += fmt::format("1\t{}\t{}\t1\t4\t2009\n", artist, (artist * (k + 3) + k) % 60);
    }
    for (int user = 0; user < 210; ++user) {
      friends += fmt::format("{0}\t{1}\n{1}\t{0}\n", user, (user + 1) % 210);
      for (int k = 0; k < 3; ++k) listened += fmt::format("{}\t{}\t5\n", user, (user * 7 + k * 13) % 90);
    }
    write("artists.dat", artists);
    write("tags.dat", tags);
    write("user_friends.dat", friends);
    write("user_artists.dat", listened);
    write("user_taggedartists.dat", tagged);
  }
};

TEST_F(ReproduceCommand, the_verdicts_follow_from_the_results) {
  const auto run = goblin("reproduce cliques --quick --rounds 60 --seeds 3 --out report");
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("evaluation seeds 1, 2, 3"), HasSubstr("on seeds 1001"),
                                HasSubstr("linucb-sin never outperforms gob.lin"), HasSubstr("report/index.html"),
                                HasSubstr("What next:\n")));
  const std::string page = read("report/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("This is the quick run"), HasSubstr("<svg role=\"img\""),
                          Not(HasSubstr("http-equiv")), Not(HasSubstr("src="))));

  // Normalized rewards by (world, contender, seed).
  std::map<std::string, double> rewards;
  for (const Row& row : rows_of(read("report/csv/results.csv"))) {
    if (row.at("role") != "tuned" || row.at("study") != "grid") continue;
    EXPECT_NEAR(std::stod(row.at("normalized_reward")),
                std::stod(row.at("reward")) - std::stod(row.at("random_reward")), 1e-9);
    rewards[row.at("world") + " " + row.at("contender") + " " + row.at("seed")] =
        std::stod(row.at("normalized_reward"));
  }
  std::set<std::string> claims;
  std::size_t checked = 0;
  for (const Row& row : rows_of(read("report/csv/verdicts.csv"))) {
    claims.insert(row.at("claim"));
    EXPECT_THAT(page, HasSubstr(row.at("text")));
    EXPECT_EQ(row.at("seeds"), row.at("claim").find("4cliques-") == 0 ? "2" : "3");
    const double low = std::stod(row.at("low"));
    const double high = std::stod(row.at("high"));
    EXPECT_EQ(row.at("difference_verdict"), low > 0.0 ? "holds" : high < 0.0 ? "does not hold" : "not decided");
    if (row.at("claim") != "sin-never-ahead" || row.at("choice") != "tuned") continue;

    // "gob.lin - linucb-sin, graph noise G, payoff noise P", recomputed. 12 differences share 5 %: t(2) = 15.5.
    std::string graph;
    std::string payoff;
    std::istringstream label(row.at("difference").substr(row.at("difference").find("graph noise ") + 12));
    std::getline(label, graph, ',');
    label.ignore(14);
    label >> payoff;
    const std::string world = "4cliques/graph-" + graph + "-payoff-" + payoff;
    std::vector<double> differences;
    for (const char* seed : {" 1", " 2", " 3"}) {
      differences.push_back(rewards.at(world + " gob.lin" + seed) - rewards.at(world + " linucb-sin" + seed));
    }
    double mean = 0.0;
    for (const double each : differences) mean += each / 3.0;
    double squares = 0.0;
    for (const double each : differences) squares += (each - mean) * (each - mean);
    const double error = std::sqrt(squares / 2.0 / 3.0);
    EXPECT_NEAR(std::stod(row.at("mean")), mean, 1e-9);
    EXPECT_NEAR(std::stod(row.at("standard_error")), error, 1e-9);
    EXPECT_NEAR(low, mean - 15.4435 * error, 1e-3 * error + 1e-9);
    ++checked;
  }
  EXPECT_EQ(checked, 12U);
  EXPECT_THAT(claims, ::testing::IsSupersetOf({"payoff-noise", "sin-never-ahead", "graph-noise", "4cliques-theorem"}));
  for (const char* file : {"4cliques.svg", "4cliques.pdf", "graph-noise.svg", "theorem-4cliques.pdf"}) {
    EXPECT_GT(read(std::string("report/figures/") + file).size(), 1000U) << file;
  }
}

TEST_F(ReproduceCommand, an_interrupted_run_resumes_to_identical_files) {
  // Long enough to be interrupted half way.
  const std::string long_run = "reproduce cliques --quick --rounds 60 --seeds 3 ";
  ASSERT_EQ(goblin(long_run + "--threads 1 --out whole").code, 0);
  const auto stopped =
      shell("'" GOBLIN_COMMAND "' " + long_run +
            "--threads 2 --out stopped & pid=$!\n"
            "until [ \"$(find stopped/cells -name '*.cell' 2>/dev/null | wc -l)\" -ge 20 ]; do :; done\n"
            "kill -INT $pid; wait $pid");
  EXPECT_EQ(stopped.code, 130) << stopped.output;
  EXPECT_THAT(stopped.output, HasSubstr("the same command goes on from there"));
  EXPECT_EQ(shell("test -e stopped/index.html").code, 1);
  const auto resumed = goblin(long_run + "--threads 2 --out stopped");
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, Not(HasSubstr(", 0 of them found")));
  const auto same = shell("diff -r -x times.csv -x '*.costs' -x '*.pdf' whole stopped");
  EXPECT_EQ(same.code, 0) << same.output;
}

TEST_F(ReproduceCommand, shards_share_the_simulations) {
  ASSERT_EQ(goblin(std::string(small_run) + "--out whole").code, 0);
  const std::string shared = std::string(small_run) + "--threads 1 --out shared ";
  const std::string count_cells = "find shared/cells -name '*.cell' | wc -l";

  // Tuning: each has its half, and the second finds that of the first and goes on with its half of the evaluation.
  const auto first = goblin(shared + "--shard 1/2");
  EXPECT_EQ(first.code, 75) << first.output;
  EXPECT_THAT(first.output, AllOf(HasSubstr("goblin: shard 1/2: "), HasSubstr(": 152 simulations run, "),
                                  HasSubstr("simulations of other shards are missing"),
                                  HasSubstr("run the other shards, then this command again (exit code 75)")));
  const int tuned = std::stoi(shell(count_cells).output);
  EXPECT_GT(tuned, 0);
  const auto idle = goblin(shared + "--shard 1/2 --json");
  EXPECT_EQ(idle.code, 75);
  EXPECT_THAT(idle.output,
              AllOf(HasSubstr(R"("shard": "1/2")"), HasSubstr(R"("ran": 0)"), HasSubstr(R"("missing": )")));
  EXPECT_EQ(std::stoi(shell(count_cells).output), tuned);
  const auto second = shell("PATH=/nowhere '" GOBLIN_COMMAND "' " + shared + "--shard 2/2");
  EXPECT_EQ(second.code, 75) << second.output;
  EXPECT_GT(std::stoi(shell(count_cells).output), 2 * tuned - 20);
  EXPECT_EQ(shell("test -e shared/index.html").code, 1);

  // The last half of the evaluation: all is there, so this writes the report.
  const auto last = goblin(shared + "--shard 1/2");
  EXPECT_EQ(last.code, 0) << last.output;
  EXPECT_THAT(last.output, HasSubstr("the report is shared/index.html"));
  const auto same = shell("diff -r -x times.csv -x '*.costs' -x '*.pdf' whole shared");
  EXPECT_EQ(same.code, 0) << same.output;

  // Any rerun writes it again, at the same time if need be.
  const auto again = shell("rm shared/index.html; '" GOBLIN_COMMAND "' " + shared +
                           "--shard 2/2 & '" GOBLIN_COMMAND "' " + shared + "; first=$?; wait $! && exit $first");
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(shell("diff -r -x times.csv -x '*.costs' -x '*.pdf' whole shared").code, 0);
}

TEST_F(ReproduceCommand, shards_at_the_same_time_do_not_disturb_each_other) {
  ASSERT_EQ(goblin(std::string(small_run) + "--out whole").code, 0);
  const std::string until_done = "until '" GOBLIN_COMMAND "' " + std::string(small_run) + "--threads 1 --out shared ";
  // Twice the first shard: both write the same cells.
  const auto run = shell("for shard in 1/2 1/2 2/2; do " + until_done +
                         "--shard $shard >>log-${shard%/*} 2>&1; do [ $? = 75 ] || exit 1; sleep 0.1; done &\n"
                         "pids=\"$pids $!\"; done; code=0; for pid in $pids; do wait $pid || code=1; done; exit $code");
  EXPECT_EQ(run.code, 0) << read("log-1") << read("log-2");
  const auto same = shell("diff -r -x times.csv -x '*.costs' -x '*.pdf' whole shared");
  EXPECT_EQ(same.code, 0) << same.output;
}

TEST_F(ReproduceCommand, a_shard_that_is_none_is_refused) {
  const std::string command = std::string(small_run) + "--shard ";
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2", "1/0", "1.5/2", "''"}) {
    const auto run = goblin(command + shard);
    EXPECT_EQ(run.code, 2) << shard << run.output;
    EXPECT_THAT(run.output, AllOf(HasSubstr("--shard"), HasSubstr("(must be I/N, with I from 1 to N"))) << shard;
  }
}

TEST_F(ReproduceCommand, plays_on_the_data_sets_too) {
  write_ring_release();
  const auto run = goblin("reproduce lastfm --quick --rounds 20 --seeds 2 --data . --no-cache --out report --json");
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr(R"("claim": "lastfm-graph-helps")"), HasSubstr(R"("verdict": )"),
                                HasSubstr(R"("claim": "lastfm-time")"), HasSubstr(R"("in_hindsight": )")));
  EXPECT_THAT(read("report/index.html"),
              AllOf(HasSubstr("gob.lin.macro (users per cluster)"), HasSubstr("gob.lin.block (number of clusters)"),
                    HasSubstr("id=\"clusters-lastfm-2-"), HasSubstr("a linear world over Last.fm's graph"),
                    Not(HasSubstr("Which claims hold in which reading"))));
  const std::string cells = "find report/cells -name 'lastfm-*' | wc -l";
  EXPECT_EQ(shell(cells).output, "1\n");
  std::set<std::string> groupings;
  for (const Row& row : rows_of(read("report/csv/results.csv"))) groupings.insert(row.at("grouping"));
  EXPECT_THAT(groupings, ::testing::IsSupersetOf({"10 clusters", "50 clusters", "200 clusters"}));  // the trade-off

  // What readings say nothing of leaves the reading as it is; what they do say is in its place.
  const std::string small_data = "reproduce lastfm --quick --rounds 4 --seeds 2 --data . --no-cache --out other ";
  EXPECT_THAT(goblin(small_data + "--minimum-count 1").output, HasSubstr("the data is read as unit-contexts\n"));
  EXPECT_THAT(goblin(small_data + "--no-centre").output, HasSubstr("the data is read by the options given"));

  // Other contexts are other cells.
  const auto unit_rows = goblin(
      "reproduce lastfm --quick --rounds 20 --seeds 2 --data . --no-cache --out report --reading unit-rows --json");
  ASSERT_EQ(unit_rows.code, 0) << unit_rows.output;
  EXPECT_THAT(unit_rows.output, HasSubstr("--reading unit-rows"));
  EXPECT_EQ(shell(cells).output, "2\n");
}

TEST_F(ReproduceCommand, shows_the_claims_in_several_readings) {
  write_ring_release();
  const auto run = goblin(
      "reproduce lastfm --quick --rounds 20 --seeds 2 --data . --no-cache --out report --reading "
      "unit-contexts,literal");
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("the data is read as unit-contexts; beside it as literal\n"));
  EXPECT_THAT(run.output, AllOf(HasSubstr("In every reading:"), HasSubstr("In some readings:"), HasSubstr("In none:")));
  const std::string page = read("report/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("Which claims hold in which reading"), HasSubstr("Seed by seed"),
                          HasSubstr("Each has length 1, so that no scale was tuned."),
                          HasSubstr("gob.lin.macro (number of balanced clusters)")));
  EXPECT_LT(page.find("Which claims hold"), page.find("What the paper says, and what the data say"));
  EXPECT_EQ(shell("find report/cells -name 'lastfm-*' | wc -l").output, "2\n") << "readings are never mixed";

  // Each reading is judged by itself, by the same contenders: which one is reported in full makes no difference.
  const auto matrix_of = [&] {
    std::map<std::string, std::string> matrix;
    for (const Row& row : rows_of(read("report/csv/readings.csv"))) {
      if (row.at("claim").find("time") != std::string::npos || row.at("claim").find("savings") != std::string::npos)
        continue;
      matrix[row.at("reading") + " " + row.at("claim") + " " + row.at("difference")] =
          row.at("verdict") + row.at("low");
    }
    return matrix;
  };
  const auto matrix = matrix_of();
  const auto turned = goblin(
      "reproduce lastfm --quick --rounds 20 --seeds 2 --data . --no-cache --out report --reading "
      "literal,unit-contexts");
  ASSERT_EQ(turned.code, 0) << turned.output;
  EXPECT_THAT(turned.output, Not(HasSubstr(", 0 of them found")));
  EXPECT_GE(matrix.size(), 8U);
  EXPECT_EQ(matrix_of(), matrix);
}

TEST_F(ReproduceCommand, refuses_readings_that_are_none_and_options_that_contradict_them) {
  write_ring_release();
  const auto run = [&](const std::string& options) {
    return goblin("reproduce lastfm --quick --rounds 20 --seeds 2 --data . --no-cache --out report " + options);
  };
  const auto unknown = run("--reading theirs");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, AllOf(HasSubstr("reading: 'theirs'"), HasSubstr("unit-contexts"), HasSubstr("carleton")));
  const auto contradiction = run("--reading unit-contexts --centre");
  EXPECT_EQ(contradiction.code, 2);
  EXPECT_THAT(contradiction.output, AllOf(HasSubstr("centre: true"), HasSubstr("the reading unit-contexts")));
  EXPECT_THAT(run("--reading literal,literal").output, HasSubstr("stands twice"));
  EXPECT_EQ(run("--unit-rows").code, 2);
  EXPECT_THAT(goblin("reproduce --reading unit-contexts cliques").output, HasSubstr("contexts are not made of tags"))
      << "a part is not another reading";
  for (const char* tagless :
       {"cliques --quick --reading literal", "cliques --quick --no-centre", "rivals --quick --reading literal"}) {
    const auto refused = shell("unset GOBLIN_DATA; '" GOBLIN_COMMAND "' reproduce " + std::string(tagless));
    EXPECT_EQ(refused.code, 2) << tagless;
    EXPECT_THAT(refused.output, HasSubstr("contexts are not made of tags")) << tagless;
  }
  EXPECT_EQ(run("--tf log").code, 2);
  const auto rivals = goblin("reproduce rivals --quick --data . --no-cache --reading unit-contexts");
  EXPECT_EQ(rivals.code, 2);
  EXPECT_THAT(rivals.output, AllOf(HasSubstr("unit-contexts"), HasSubstr("rivals")));
}

TEST_F(ReproduceCommand, compares_rivals) {
  const std::string rivals = "reproduce rivals --quick --rounds 8 --seeds 2 --out report ";
  const auto run = goblin(rivals);
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("without --data, Last.fm and Delicious are left out"),
                                HasSubstr("Does the social graph pay?"), HasSubstr("report/rivals.html"),
                                HasSubstr("4 settings each, in 5 worlds")));
  const std::string page = read("report/rivals.html");
  EXPECT_THAT(page, AllOf(HasSubstr("This is the quick run"), HasSubstr("<svg role=\"img\""), Not(HasSubstr("src="))));

  // The differences of the table, computed anew from the rewards of each seed.
  std::map<std::string, double> rewards;
  for (const Row& row : rows_of(read("report/csv/rivals-results.csv"))) {
    rewards[row.at("study") + " " + row.at("contender") + " " + row.at("seed")] =
        std::stod(row.at("normalized_reward"));
    EXPECT_FALSE(row.at("exploration").empty());
  }
  std::set<std::string> contenders;
  for (const Row& row : rows_of(read("report/csv/rivals.csv"))) {
    contenders.insert(row.at("contender"));
    EXPECT_THAT(page, HasSubstr(row.at("contender")));
    EXPECT_GT(std::stod(row.at("megabytes")), 0.0) << row.at("contender");
    if (row.at("contender") == "gob.lin") continue;
    double mean = 0.0;
    for (const char* seed : {" 1", " 2"}) {
      mean += 0.5 * (rewards.at(row.at("study") + " " + row.at("contender") + seed) -
                     rewards.at(row.at("study") + " gob.lin" + seed));
    }
    EXPECT_NEAR(std::stod(row.at("difference")), mean, 1e-9);
    const double low = std::stod(row.at("difference_low"));
    const double high = std::stod(row.at("difference_high"));
    EXPECT_EQ(row.at("standing"), low > 0.0 ? "ahead" : high < 0.0 ? "behind" : "not decided");
  }
  EXPECT_TRUE(contenders.contains("gob.lin thompson"));
  for (const char* file :
       {"figures/rivals-4cliques.svg", "figures/rivals-drift.pdf", "csv/rivals-times.csv", "rivals.md"}) {
    EXPECT_GT(read(std::string("report/") + file).size(), 500U) << file;
  }

  const auto again = goblin(rivals + "--json");
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_THAT(again.output, AllOf(HasSubstr(R"("minus_gob_lin": )"), HasSubstr(R"("standing": )")));
  EXPECT_EQ(read("report/rivals.html"), page) << "the same cells, the same page";
}

TEST_F(ReproduceCommand, says_what_is_missing) {
  const auto no_data = goblin("reproduce lastfm --quick");
  EXPECT_EQ(no_data.code, 2);
  EXPECT_THAT(no_data.output, HasSubstr("--data"));
  const auto wrong_data = goblin("reproduce lastfm --quick --data nowhere");
  EXPECT_EQ(wrong_data.code, 3);
  EXPECT_THAT(wrong_data.output, AllOf(HasSubstr("nowhere"), HasSubstr("goblin data fetch")));
  write("file", "");
  const auto unwritable = goblin(std::string(small_run) + "--out file/report");
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.output, HasSubstr("file/report/cells: cannot be written"));
  const auto no_gnuplot = shell("PATH=/nowhere '" GOBLIN_COMMAND "' " + std::string(small_run));
  EXPECT_EQ(no_gnuplot.code, 1);
  EXPECT_THAT(no_gnuplot.output, HasSubstr("gnuplot-nox"));
  EXPECT_EQ(goblin("reproduce rivals --quick --data nowhere").code, 3);
  EXPECT_EQ(goblin("reproduce rivals --seeds 1").code, 2);
  EXPECT_EQ(goblin("reproduce everything").code, 2);
  EXPECT_EQ(goblin("reproduce cliques --seeds 1").code, 2);
  EXPECT_EQ(goblin("reproduce cliques --rounds -5").code, 2);
}

}  // namespace reproduce_test
}  // namespace goblin
