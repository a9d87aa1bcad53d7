#include "data/small_release.hpp"
#include "goblin/bandit/policy.hpp"
#include "support/command.hpp"
#include "support/datasets.hpp"

#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace simulate_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SimulateCommand : public test::Command {
 protected:
  SimulateCommand() {
    write("edges.tsv", "ann\tbob\nbob\tcat\ncat\tann\ndan\teve\n");
    write("items.tsv", "tea\t1\t0\nsoup\t0\t1\ncake\t0.5\t0.5\n");
    write("payoffs.tsv", "ann\ttea\t1\nbob\ttea\t1\ndan\tsoup\t1\n");
    write("labels.tsv", "ann\ta\nbob\ta\ncat\ta\ndan\tb\neve\tb\n");
  }
  /// The JSON of a run without what a clock says.
  [[nodiscard]] std::string json(const std::string& arguments) const {
    const auto outcome = goblin("simulate --json " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return std::regex_replace(test::on_one_line(outcome.output),
                              std::regex(R"json("(seconds|rounds_per_second)": [-+e0-9.]+)json"), "");
  }
};

TEST_F(SimulateCommand, prints_a_table_or_json) {
  const std::string run = "simulate --rounds 50 --repetitions 2 --cliques 2 --clique-size 4 --dimension 3 ";
  const auto text = goblin(run + "--policy linucb-sin gob.lin --alpha 0.1,0.5");
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, AllOf(HasSubstr("cliques: 8 users, 12 edges, contexts of 3 numbers, seed 0"),
                                 HasSubstr("normalized reward"), HasSubstr(" +- "), HasSubstr("\nlinucb-sin    0.1"),
                                 HasSubstr("\nlinucb-sin    0.5"), HasSubstr("\ngob.lin       0.5")));
  const auto json = test::on_one_line(goblin(run + "--policy gob.lin --json").output);
  EXPECT_THAT(json, AllOf(HasSubstr(R"("results": [)"), HasSubstr(R"("policy": "gob.lin", "alpha": 0.1, "rounds": 50)"),
                          HasSubstr(R"("reward": )"), HasSubstr(R"("normalized_reward": )"),
                          HasSubstr(R"("standard_error": )"), HasSubstr(R"("regret": )"), HasSubstr(R"("seconds": )"),
                          HasSubstr(R"("engine": "dense")"), HasSubstr(R"("bytes": )")));
}

TEST_F(SimulateCommand, takes_a_reading) {
  write("items.tsv", "tea\thot\tgreen\nsoup\thot\thot\nglue\ncake\tgreen\tsweet\n");
  const std::string run = "--world files --data . --items tags --arms 2 --rounds 40 --policy linucb-sin --dimension 2 ";
  const std::string literal = json(run);
  EXPECT_EQ(json(run + "--reading literal"), literal);
  EXPECT_EQ(json(run + "--reading unit-contexts"), json(run + "--reading unit-contexts --no-centre"));
  EXPECT_EQ(goblin("simulate " + run + "--reading unit-contexts --tf binary").code, 2);
  EXPECT_EQ(goblin("simulate " + run + "--reading none").code, 2);
  EXPECT_EQ(goblin("simulate --world cliques --reading literal").code, 2) << "cliques have no tags";
}

TEST_F(SimulateCommand, tries_ways_to_choose) {
  const std::string run = "--rounds 50 --cliques 2 --clique-size 4 --dimension 3 --policy gob.lin ";
  const auto text = goblin("simulate " + run + "--explore ucb:0.1 thompson:0.2,greedy square_cb:5+epsilon:0.1");
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, AllOf(HasSubstr("\npolicy   alpha"), HasSubstr(" exploration "), HasSubstr(" thompson:0.2 "),
                                 HasSubstr(" greedy "), HasSubstr(" square_cb:5+epsilon:0.1 ")));
  const std::string rules = run + "--explore ucb:0.1,thompson:0.2 --trace t.csv";
  const std::string found = json(rules);
  EXPECT_THAT(found, AllOf(HasSubstr(R"("alpha": 0.1)"), HasSubstr(R"("exploration": "ucb:0.1")"),
                           HasSubstr(R"("alpha": null)"), HasSubstr(R"("exploration": "thompson:0.2")")));
  EXPECT_EQ(json(rules), found);
  EXPECT_THAT(read("t.csv"), AllOf(HasSubstr(",regret,exploration\n"), HasSubstr("\ncliques,gob.lin,0.1,0,0,1,"),
                                   HasSubstr("\ncliques,gob.lin,,0,0,1,"), HasSubstr(",thompson:0.2\n")));
}

TEST_F(SimulateCommand, policies_have_options_of_their_own) {
  const std::string run = "--rounds 200 --cliques 2 --clique-size 4 --dimension 3 --policy club dynucb ";
  const std::string usual = json(run);
  for (const char* option : {"--club-graph complete", "--separation 0.01", "--dynucb-clusters 3", "--dynucb-seed 5"}) {
    EXPECT_NE(json(run + option), usual) << option;
  }
  EXPECT_NE(json(run + "--club-graph random --separation 0.1"),
            json(run + "--club-graph random --separation 0.1 --club-seed 2"));
  const auto other = goblin("simulate --policy gob.lin --separation 0.3");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.output, HasSubstr("--separation: must not be given without the policy club"));
  const auto unknown = goblin("simulate --policy club --club-graph friends");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("club_graph: 'friends' (must be social, complete or random)"));
}

// What is written is what the other commands read: an item stands for the context it has in the world.
TEST_F(SimulateCommand, writes_a_log_of_choices_at_random) {
  const std::string run = "simulate --world files --data . --arms 2 --rounds 300 --seed 5 --log-random shop";
  const auto outcome = goblin(run);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("files: 300 decisions at random, mean reward 0."),
                                    HasSubstr("shop/edges.tsv\nshop/items.tsv\nshop/log.jsonl\n")));
  EXPECT_EQ(read("shop/items.tsv"), read("items.tsv"));
  EXPECT_EQ(read("shop/edges.tsv"), "ann\tbob\t1\nann\tcat\t1\nbob\tcat\t1\ndan\teve\t1\n");
  const std::string log = read("shop/log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 300);
  std::size_t shown_first = 0;
  for (std::size_t at = 0; (at = log.find("\"action\":0", at)) != std::string::npos; ++at) ++shown_first;
  EXPECT_GT(shown_first, 110) << "about 150: chance decides";
  EXPECT_LT(shown_first, 190);
  EXPECT_THAT(log, HasSubstr(R"("probability":0.5})"));
  EXPECT_EQ(goblin(run).code, 0);
  EXPECT_EQ(read("shop/log.jsonl"), log) << "the same seed, the same log";

  const auto fitted =
      goblin("fit --graph shop/edges.tsv --items shop/items.tsv --events shop/log.jsonl --save model.goblin");
  EXPECT_EQ(fitted.code, 0) << fitted.output;
  EXPECT_THAT(fitted.output, HasSubstr("gob.lin: 300 rewards learned\n5 users (0 new)"));
  // Ann only likes tea, and Dan, whom no path joins to her, only soup.
  write("ask.jsonl",
        "{\"user\": \"ann\", \"items\": [\"soup\", \"tea\"]}\n{\"user\": \"dan\", \"items\": [\"soup\", \"tea\"]}\n");
  EXPECT_THAT(goblin("replay --load model.goblin --items shop/items.tsv <ask.jsonl 2>/dev/null").output,
              AllOf(HasSubstr(R"("item":"tea")"), HasSubstr(R"("item":"soup")")));

  const auto json = test::on_one_line(goblin("simulate --rounds 50 --log-random cliques --json").output);
  EXPECT_THAT(json, AllOf(HasSubstr(R"("decisions": 50, "mean_reward": )"),
                          HasSubstr(R"("files": ["cliques/edges.tsv", "cliques/log.jsonl"])")));
  EXPECT_EQ(goblin("fit --graph cliques/edges.tsv --dimension 25 --events cliques/log.jsonl --save c.goblin").code, 0);

  for (const char* other : {"--policy gob.lin", "--alpha 0.1", "--repetitions 2", "--trace t.csv"}) {
    EXPECT_EQ(goblin(run + " " + other).code, 2) << other;
  }
  EXPECT_EQ(goblin("simulate --rounds 5 --log-random ''").code, 2);
  const auto refused = goblin("simulate --rounds 5 --log-random items.tsv");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, HasSubstr("items.tsv: the folder cannot be made"));
}

// The worked example of docs/your-data.md, in small.
TEST_F(SimulateCommand, writes_a_log_of_a_dataset) {
  const auto data = test::dataset_file("hetrec2011-lastfm-2k");
  if (!data) GTEST_SKIP() << test::no_datasets;
  const auto outcome = goblin("simulate --world lastfm --data '" + data->string() +
                              "' --no-cache --dimension 3 --rounds 1000 --log-random lastfm");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const auto fitted = goblin(
      "fit --policy linucb-ind --graph lastfm/edges.tsv --items lastfm/items.tsv --events lastfm/log.jsonl --save m");
  EXPECT_EQ(fitted.code, 0) << fitted.output;
  EXPECT_THAT(fitted.output, HasSubstr("linucb-ind: 1000 rewards learned\n1892 users (0 new)"));
}

TEST_F(SimulateCommand, tastes_can_change_after_some_rounds) {
  const std::string run = "--cliques 2 --clique-size 4 --dimension 3 --policy gob.lin --trace-every 30 --rounds ";
  const std::string calm = json(run + "60 --trace calm.csv");
  const std::string drifting = json(run + "60 --trace drifting.csv --drift-after 30");
  EXPECT_NE(calm, drifting);
  EXPECT_THAT(drifting, AllOf(HasSubstr(R"("regret_bound": null)"), ::testing::ContainsRegex(R"("regret": [0-9])")));
  const auto first_row = [](const std::string& csv) {
    const std::size_t begin = csv.find('\n');
    return csv.substr(begin, csv.find('\n', begin + 1) - begin);
  };
  EXPECT_EQ(first_row(read("drifting.csv")), first_row(read("calm.csv")));
  EXPECT_NE(read("drifting.csv"), read("calm.csv"));
  EXPECT_EQ(goblin("simulate --world linear --graph edges.tsv --drift-after 5").code, 2);
  EXPECT_EQ(goblin("simulate --drift-after 0").code, 2);
}

TEST_F(SimulateCommand, finds_the_same_on_any_number_of_threads) {
  const std::string run =
      "--rounds 60 --repetitions 3 --cliques 3 --clique-size 5 --dimension 4 --graph-noise 9 --payoff-noise 0.3 "
      "--policy linucb-sin,linucb-ind,gob.lin,gob.lin.macro,gob.lin.block --clusters 3 ";
  const std::string one = json(run + "--threads 1 --trace one.csv");
  EXPECT_EQ(one, json(run + "--threads 3 --trace three.csv"));
  EXPECT_EQ(read("one.csv"), read("three.csv"));
  EXPECT_NE(one, json(run + "--seed 6"));
}

TEST_F(SimulateCommand, plays_in_a_users_own_files) {
  const std::string run = "--world files --data . --arms 3 --rounds 40 --policy gob.lin.block --labels labels.tsv ";
  EXPECT_THAT(json(run + "--trace t.csv --trace-every 20"),
              AllOf(HasSubstr(R"("world": "files", "users": 5, "edges": 4, "dimension": 2)"),
                    HasSubstr(R"("ratio_to_random": )")));
  EXPECT_THAT(read("t.csv"),
              AllOf(HasSubstr("world,policy,alpha,seed,repetition,round,user,arm,item,"),
                    HasSubstr("\nfiles,gob.lin.block,0.1,0,0,20,"), HasSubstr("\nfiles,gob.lin.block,0.1,0,0,40,")));
  write("items.tsv", "tea\tHot drink\nsoup\thot\ncake\tsweet\n");
  EXPECT_THAT(json(run + "--dimension 2"), HasSubstr(R"("dimension": 2)"));
}

TEST_F(SimulateCommand, plays_on_any_graph) {
  const std::string json_text = json("--world linear --graph edges.tsv --dimension 3 --rounds 50 --policy gob.lin");
  EXPECT_THAT(json_text, AllOf(HasSubstr(R"("world": "linear", "users": 5, "edges": 4)"),
                               ::testing::ContainsRegex(R"("regret_bound": [0-9])")));
}

TEST_F(SimulateCommand, plays_in_the_releases) {
  const TemporaryFolder folder;
  write_small_lastfm(folder / "hetrec2011-lastfm-2k");
  write_small_delicious(folder / "hetrec2011-delicious-2k-reconstructed");
  const std::string run =
      " --data '" + folder.path().string() + "' --no-cache --dimension 2 --arms 2 --rounds 20 --policy gob.lin";
  EXPECT_THAT(json("--world lastfm" + run), HasSubstr(R"("world": "Last.fm", "users": 4, "edges": 2)"));
  EXPECT_THAT(json("--world delicious" + run), HasSubstr("Delicious (reconstructed)"));
}

TEST_F(SimulateCommand, an_interrupt_prints_what_was_done_so_far) {
  // Waits until the program catches the signal (the last digit of SigCgt has the bit of SIGINT), and a second for it to
  // play some rounds on a busy machine.
  const auto outcome = shell("'" GOBLIN_COMMAND
                             "' simulate --json --policy linucb-sin --rounds 4000000000 --threads 1 & pid=$!\n"
                             "until grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status; do sleep 0.05; done\n"
                             "sleep 1; kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.code, 130) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\"interrupted\": true"), HasSubstr("\"policy\": \"linucb-sin\""),
                                    ::testing::ContainsRegex("\"rounds\": [1-9]")));
}

TEST_F(SimulateCommand, self_loops_and_repeated_payoffs_need_a_word) {
  write("edges.tsv", "ann\tbob\nbob\tbob\n");
  write("payoffs.tsv", "ann\ttea\t1\nbob\ttea\t1\nann\ttea\t1\n");
  const std::string run = "simulate --rounds 5 --policy gob.lin --arms 2 --world ";
  const auto expect = [&](int code, const std::string& arguments, const std::string& message) {
    const auto outcome = goblin(run + arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message)) << arguments;
  };
  expect(3, "linear --graph edges.tsv", "edges.tsv:2: 'bob' is joined to itself (a self loop; drop-self-loops");
  expect(0, "linear --graph edges.tsv --drop-self-loops", "2 users, 1 edges");
  expect(3, "files --data . --drop-self-loops", "payoffs.tsv:3: user 'ann' and item 'tea' stand in line 1 already");
  expect(0, "files --data . --drop-self-loops --repeated-payoffs sum", "2 users, 1 edges");
  expect(2, "files --data . --repeated-payoffs mean", "mean");
  expect(2, "cliques --drop-self-loops", "--world cliques excludes --drop-self-loops");
}

TEST_F(SimulateCommand, the_help_names_every_policy) {
  const auto help = goblin("simulate --help").output + goblin("replay --help").output;
  EXPECT_THAT(help, HasSubstr(policy_names()));
  for (const PolicyInfo& info : policy_table) {
    EXPECT_EQ(goblin("simulate --rounds 5 --clusters 2 --policy " + std::string(info.name)).code, 0) << info.name;
  }
}

TEST_F(SimulateCommand, takes_the_options_of_hashing_and_of_the_laplacian) {
  const auto reward = [&](const std::string& arguments) {
    const auto outcome = goblin("simulate --rounds 200 --json " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const auto at = outcome.output.find("\"reward\"");
    return outcome.output.substr(at, outcome.output.find(',', at) - at);
  };
  const std::string hash = "--policy linucb.hash ";
  EXPECT_EQ(reward(hash + "--buckets 16"), reward(hash + "--buckets 16 --hash-seed 0"));
  EXPECT_NE(reward(hash + "--buckets 16"), reward(hash + "--buckets 16 --hash-seed 1"));
  EXPECT_NE(reward(hash + "--buckets 16"), reward(hash + "--buckets 64"));
  EXPECT_EQ(reward("--policy gob.lin"), reward("--policy gob.lin --laplacian combinatorial"));
  EXPECT_NE(reward("--policy gob.lin"), reward("--policy gob.lin --laplacian normalized"));
  const std::string usual = fmt::format("{}", info_of(Policy::gob_lin_hub).usual_ridge);
  EXPECT_EQ(reward("--policy gob.lin.hub"), reward("--policy gob.lin.hub --ridge " + usual));
  EXPECT_NE(reward("--policy gob.lin.hub"), reward("--policy gob.lin.hub --ridge 1"));
  EXPECT_EQ(reward("--policy gob.lin"), reward("--policy gob.lin --ridge 1"));
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const auto outcome = goblin("simulate --rounds 5 " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message)) << arguments;
  };
  expect("--policy gob.lin --buckets 8", "--buckets: must not be given without the policy linucb.hash");
  expect(hash + "--laplacian normalized", "--laplacian: must not be given without the policy gob.lin");
  expect("--policy gob.lin --laplacian best", "laplacian: 'best' (must be combinatorial or normalized)");
  expect(hash + "--buckets 0", "0");
  // The names that were typed, not those of fields.
  expect(hash + "--buckets 70000", "goblin: buckets: 70000 (must be between 1 and 65536)");
  expect("--policy gob.lin.hub --hub 0", "goblin: hub: 0 (must be above 0 and at most 1e100)");
  expect("--policy gob.lin.hub --hub-ridge 0", "goblin: hub_ridge: 0 (must be between 1e-100 and 1e100)");
  expect("--policy gob.lin --window 5 --discount 0.5", "goblin: window: 5 (must be 0 where discount is 0.5)");
  expect("--policy club --window 5", "goblin: window: 5 (must be 0 with club:");
  expect("--policy dynucb --dynucb-clusters 1000001", "goblin: dynucb_clusters: 1000001 (must be between 1 and");
}

TEST_F(SimulateCommand, tells_wrong_usage_from_bad_data) {
  const auto expect = [&](int code, const std::string& arguments, const std::string& message) {
    const auto outcome = goblin("simulate --rounds 5 " + arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message)) << arguments;
  };
  expect(2, "--policy best", "policy: 'best'");
  expect(2, "--engine fast", "engine: 'fast'");
  expect(2, "--world mars", "mars");
  expect(2, "--policy gob.lin.macro", "--clusters, --cluster-size or --labels");
  expect(2, "--alpha=-1", "alpha: -1");
  expect(2, "--rounds 0", "0");
  expect(2, "--repetitions -1", "-1");
  expect(2, "--world linear", "--graph");
  expect(2, "--graph edges.tsv", "--world cliques excludes --graph");
  expect(2, "--world files --data . --arms 4", "arms: 4");
  expect(2, "--world files --data . --graph-noise 4", "--world files excludes --graph-noise");
  expect(2, "--graph-noise 5000", "expected_flips: 5000");
  expect(3, "--world lastfm --data .", "no Last.fm data");
  expect(3, "--world linear --graph none.tsv", "none.tsv: the file cannot be opened");
  write("labels.tsv", "ann\ta\nbob\ta\ncat\ta\ndan\tb\neve\tb\nfay\tb\n");
  expect(3, "--world files --data . --arms 2 --policy gob.lin.macro --labels labels.tsv",
         "user 'fay' is not in the data");
  write("payoffs.tsv", "ann\tbread\t1\n");
  expect(3, "--world files --data .", "payoffs.tsv:1: item 'bread' is not in items.tsv");
  expect(1, "--trace no/such/folder/t.csv", "cannot be written");
}

}  // namespace simulate_test
}  // namespace goblin
