#include "bandit/model_file.hpp"

#include "bandit/golden_models.hpp"
#include "bandit/scenario.hpp"
#include "checked_file.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "temporary_folder.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace goblin {
namespace model_file_test {

using ::testing::HasSubstr;

const std::filesystem::path golden_folder = std::filesystem::path(GOBLIN_SOURCE_DIR) / "tests/bandit/golden";

Scenario world() {
  return {.name = "model_file",
          .graph = generate::random({.nodes = 20, .edges = 22, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 9}),
          .dimension = 5};
}

Bandit trained(Policy policy, EngineKind kind, std::size_t rounds = 37) {
  const Scenario scenario = world();
  auto bandit = Bandit::make(
      policy, scenario.graph, scenario.clusters_for(policy),
      {.dimension = 5, .alpha = 0.25, .ridge = 0.8, .coupling = 1.5, .hash = few_buckets, .engine = {.kind = kind}});
  for (std::size_t t = 0; t < rounds; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
  }
  return bandit;
}

class ModelFileTest : public ::testing::TestWithParam<std::tuple<Policy, EngineKind>> {};

TEST_P(ModelFileTest, a_loaded_bandit_goes_on_to_the_last_bit) {
  const auto [policy, kind] = GetParam();
  const TemporaryFolder folder;
  auto bandit = trained(policy, kind);
  bandit.add_user({}, {});
  if (policy != Policy::gob_lin_block) bandit.add_edge(20, 3, 0.5);
  bandit.save(folder / "model.goblin");
  auto loaded = Bandit::load(folder / "model.goblin");
  EXPECT_EQ(loaded.policy(), policy);
  EXPECT_EQ(loaded.rewards(), bandit.rewards());
  EXPECT_EQ(loaded.log_determinant(), bandit.log_determinant());
  EXPECT_EQ(loaded.graph().edge_count(), bandit.graph().edge_count());
  const Scenario scenario = world();
  for (std::size_t t = 100; t < 150; ++t) {
    const auto round = scenario.round(t);
    const Decision expected = bandit.select(round.user, {round.contexts, 5});
    const Decision decision = loaded.select(round.user, {round.contexts, 5});
    ASSERT_EQ(decision.arm, expected.arm);
    ASSERT_EQ(decision.scores, expected.scores);
    bandit.update(round.user, round.context(expected.arm), round.rewards[expected.arm]);
    loaded.update(round.user, round.context(expected.arm), round.rewards[expected.arm]);
  }
  loaded.save(folder / "again.goblin");
  bandit.save(folder / "model.goblin");
  EXPECT_EQ(content_of(folder / "again.goblin"), content_of(folder / "model.goblin"));
}

INSTANTIATE_TEST_SUITE_P(all, ModelFileTest,
                         ::testing::Combine(::testing::ValuesIn(all_policies),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local,
                                                              EngineKind::automatic)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

class DamagedModelFile : public ::testing::Test {
 protected:
  DamagedModelFile() {
    trained(Policy::gob_lin, EngineKind::automatic).save(folder_ / "model.goblin");
    good_ = content_of(folder_ / "model.goblin");
  }

  std::string refusal(const std::string& content) const {
    write_file(folder_ / "damaged.goblin", content);
    try {
      (void)Bandit::load(folder_ / "damaged.goblin");
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged.goblin: "));
      return error.reason();
    }
    return "loaded";
  }

  TemporaryFolder folder_;
  std::string good_;
};

TEST_F(DamagedModelFile, truncated) {
  for (const std::size_t size : {0, 5, 27, 28, 100}) {
    EXPECT_THAT(refusal(good_.substr(0, size)), HasSubstr("is truncated: ")) << size;
  }
  EXPECT_THAT(refusal(good_.substr(0, good_.size() - 1)), HasSubstr("is truncated: "));
}

TEST_F(DamagedModelFile, altered_anywhere) {
  for (std::size_t at = 8; at < good_.size(); at += at < 200 ? 1 : 97) {
    std::string altered = good_;
    altered[at] = static_cast<char>(altered[at] ^ 0x20);
    EXPECT_THAT(refusal(altered), HasSubstr("was altered: ")) << "byte " << at;
  }
  EXPECT_EQ(refusal(good_ + "xyz"), "was altered: 3 bytes too many");
}

TEST_F(DamagedModelFile, newer) {
  std::string newer = good_;
  newer[8] = 6;
  const auto sum = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(newer.data()), 24));
  for (int k = 0; k < 4; ++k) newer[24 + k] = static_cast<char>(sum >> (8 * k));
  EXPECT_EQ(refusal(newer), "is of a newer version, 6: this goblin reads up to version 5");
}

TEST_F(DamagedModelFile, something_else) {
  EXPECT_EQ(refusal("user\tuser\n"), "is not a goblin model file");
  EXPECT_EQ(refusal(std::string(1000, 'x')), "is not a goblin model file");
}

TEST_F(DamagedModelFile, missing_or_a_folder) {
  EXPECT_THROW((void)Bandit::load(folder_ / "none"), DataError);
  EXPECT_THROW((void)Bandit::load(folder_.path()), DataError);
}

// The format is the same on every machine: these are the first bytes, whatever the byte order.
TEST_F(DamagedModelFile, byte_order_is_little_endian) {
  EXPECT_EQ(good_.substr(0, 8), "\x89GOB\r\n\x1a\n");
  EXPECT_EQ(good_.substr(8, 4), std::string("\x05\0\0\0", 4));
  std::size_t length = 0;
  for (int k = 7; k >= 0; --k) length = length << 8 | static_cast<unsigned char>(good_[12 + k]);
  EXPECT_EQ(length + 28, good_.size());
  EXPECT_EQ(good_.substr(28, 15), std::string("\x07\0\0\0\0\0\0\0gob.lin", 15));
}

TEST(ModelFile, is_written_whole_or_not_at_all) {
  const TemporaryFolder folder;
  const auto bandit = trained(Policy::gob_lin, EngineKind::automatic);
  bandit.save(folder / "model.goblin");
  const std::string before = content_of(folder / "model.goblin");
  bandit.save(folder / "model.goblin");  // over an old one
  EXPECT_EQ(content_of(folder / "model.goblin"), before);
  EXPECT_THROW(bandit.save(folder / "no" / "such" / "folder"), std::system_error);
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THROW(bandit.save(folder / "taken"), std::system_error);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1);  // nothing temporary is left
}

// A file of every version and kind that goblin ever wrote: each loads, or is refused by its version. After a change of
// the format, raise the version in model_file.cpp, run goblin_golden_models and add its files.
TEST(OldModelFiles, of_version_1_are_refused_by_name) {
  try {
    (void)Bandit::load(golden_folder / "version-1-gob.lin-dense.goblin");
    FAIL() << "loaded";
  } catch (const DataError& error) {
    EXPECT_THAT(error.reason(), HasSubstr("is of an older version, 1: this goblin reads from version 2 on"));
  }
}

class GoldenModelFiles : public ::testing::TestWithParam<int> {};

TEST_P(GoldenModelFiles, load) {
  const auto policies =
      GetParam() < 4 ? std::span<const Policy>(paper_policies) : std::span<const Policy>(all_policies);
  for (const Policy policy : policies) {
    for (const EngineKind kind : golden_engines) {
      const std::string name = golden_name(GetParam(), policy, kind);
      auto loaded = Bandit::load(golden_folder / name);
      auto expected = golden_model(GetParam(), policy, kind);
      EXPECT_EQ(loaded.policy(), policy) << name;
      EXPECT_EQ(loaded.exploration(), expected.exploration()) << name;
      EXPECT_EQ(loaded.options().intercept, expected.options().intercept) << name;
      EXPECT_EQ(loaded.rewards(), expected.rewards()) << name;
      EXPECT_EQ(loaded.evidence("u3").count, expected.evidence("u3").count) << name;
      const std::vector<double> contexts{0.3, -0.8, 1.0, 0.2};
      // Which residuals local settles first is not part of the format.
      const double rounding = kind == EngineKind::local ? 1e-7 : 1e-9;
      for (int round = 0; round < 2; ++round) {
        for (NodeId user = 0; user < expected.user_count(); ++user) {
          EXPECT_EQ(loaded.has_user(user), expected.has_user(user)) << name;
          if (!expected.has_user(user)) continue;
          const Decision decision = loaded.select(user, {contexts, 2}, {}, Draw{});
          const Decision wanted = expected.select(user, {contexts, 2}, {}, Draw{});
          for (std::size_t arm = 0; arm < 2; ++arm) {
            EXPECT_NEAR(decision.scores[arm], wanted.scores[arm], rounding) << name;
          }
        }
        for (Bandit* bandit : {&loaded, &expected}) {
          bandit->update("u1", std::span(contexts).first(2), 1.0);
          if (uses_clusters(policy)) bandit->move_user("u3", 0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of_version, GoldenModelFiles, ::testing::Values(2, 3, 4, 5),
                         ::testing::PrintToStringParamName());

/// As version 2 wrote it: alpha, and a printed bound that may take its place.
TEST(ModelFile, of_version_2_may_have_a_printed_bound) {
  const auto bandit = trained(Policy::gob_lin, EngineKind::dense);
  const std::string text = name_of(bandit.exploration());
  constexpr FileKind version_2{"model file", {'\x89', 'G', 'O', 'B', '\r', '\n', '\x1a', '\n'}, 2};
  for (const bool printed : {false, true}) {
    const std::string bytes = checked_bytes(version_2, [&](BinaryWriter& out) {
      std::string now = bandit.to_bytes().substr(28);
      const std::size_t of_one_policy = now.find("combinatorial") - 8;  // since version 4
      constexpr std::size_t intercept_and_removed_users = 1 + 8;        // since version 5
      now.erase(of_one_policy, 115 + intercept_and_removed_users);
      const std::string size_and_text = std::string(1, static_cast<char>(text.size())) + std::string(7, '\0') + text;
      const std::size_t at = now.find(size_and_text);
      ASSERT_NE(at, std::string::npos);
      for (const char byte : now.substr(0, at)) out.number(static_cast<std::uint8_t>(byte));
      out.number(0.75);
      out.number(static_cast<std::uint8_t>(printed ? 1 : 0));
      for (const double value : {0.5, 0.25, 3.0}) out.number(value);
      for (const char byte : now.substr(at + size_and_text.size())) out.number(static_cast<std::uint8_t>(byte));
    });
    const auto loaded = Bandit::from_bytes(bytes);
    EXPECT_EQ(loaded.exploration(), printed ? Exploration::printed_bound({.noise = 0.5, .delta = 0.25, .norm = 3.0})
                                            : Exploration::ucb(0.75));
    EXPECT_EQ(loaded.mean(3), bandit.mean(3));
  }
}

TEST(ModelFile, keeps_names) {
  const TemporaryFolder folder;
  Names names;
  for (const char* name : {"ann", "bob", "zoë"}) names.insert(name);
  auto bandit = Bandit::gob_lin(Graph(names, std::vector<Edge>{{0, 1}, {1, 2}}), {.dimension = 2});
  bandit.add_user("dan");
  bandit.add_edge("dan", "zoë");
  bandit.save(folder / "model");
  auto loaded = Bandit::load(folder / "model");
  EXPECT_EQ(loaded.user("zoë"), 2);
  EXPECT_EQ(loaded.user("dan"), 3);
  EXPECT_EQ(loaded.graph().weight(2, 3), 1.0);
  EXPECT_FALSE(loaded.has_user("eve"));
  loaded.remove_edge("dan", "zoë");
  EXPECT_EQ(loaded.summary().components.size(), 2);
}

TEST(ModelFile, as_bytes_is_the_content_of_the_file) {
  const TemporaryFolder folder;
  const auto bandit = trained(Policy::gob_lin_macro, EngineKind::sparse);
  bandit.save(folder / "model");
  const std::string bytes = bandit.to_bytes();
  EXPECT_EQ(bytes, content_of(folder / "model"));
  EXPECT_EQ(Bandit::from_bytes(bytes).to_bytes(), bytes);
  EXPECT_THROW((void)Bandit::from_bytes(std::span(bytes).first(100)), DataError);
}

TEST(ModelFile, takes_other_names) {
  const TemporaryFolder folder;
  auto bandit = Bandit::gob_lin(Graph(2, std::vector<Edge>{{0, 1, 0.5}}), {.dimension = 2});
  bandit.add_user();
  bandit.add_edge(1, 2);
  Names names;
  names.insert("ann");
  names.insert("bob");
  EXPECT_THROW(bandit.save(folder / "model", names), std::invalid_argument);
  names.insert("cat");
  bandit.save(folder / "model", names);
  const auto loaded = Bandit::load(folder / "model");
  EXPECT_EQ(loaded.user("cat"), 2);
  EXPECT_EQ(loaded.graph().weight(0, 1), 0.5);
  EXPECT_FALSE(bandit.has_user("ann"));  // only the file has them
}

}  // namespace model_file_test
}  // namespace goblin
