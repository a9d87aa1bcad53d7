#include "data/small_release.hpp"
#include "support/command.hpp"
#include "support/file_server.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace data_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Entries = std::vector<std::pair<std::string, std::string>>;  // path, content; "-> x" is a link to x

std::string zip_of(const Entries& entries) {
  const TemporaryFolder folder;
  const auto file = folder / "a.zip";
  archive* zip = archive_write_new();
  archive_write_set_format_zip(zip);
  archive_write_open_filename(zip, file.c_str());
  for (const auto& item : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.first.c_str());
    archive_entry_set_perm(entry, 0644);
    if (item.second.starts_with("-> ")) {
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, item.second.c_str() + 3);
      archive_write_header(zip, entry);
    } else {
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_size(entry, static_cast<la_int64_t>(item.second.size()));
      archive_write_header(zip, entry);
      archive_write_data(zip, item.second.data(), item.second.size());
    }
    archive_entry_free(entry);
  }
  archive_write_close(zip);
  archive_write_free(zip);
  return content_of(file);
}

/// The small release as an archive, its files at the top or in a folder.
std::string small_archive(const std::string& prefix = "") {
  const TemporaryFolder folder;
  write_small_lastfm(folder.path());
  Entries entries;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    entries.emplace_back(prefix + file.path().filename().string(), content_of(file.path()));
  }
  return zip_of(entries);
}

class DataCommand : public test::Command {
 protected:
  [[nodiscard]] test::Outcome fetch(const std::string& from, const std::string& rest = "--unchecked") const {
    return goblin("data fetch lastfm --data sets --from " + from + " " + rest);
  }
  /// Whether the small release is in place, and nothing else.
  [[nodiscard]] bool is_in_place() const {
    const auto listing = shell("ls sets sets/hetrec2011-lastfm-2k");
    return listing.output.starts_with("sets:\nhetrec2011-lastfm-2k\n\n") &&
           read("sets/hetrec2011-lastfm-2k/user_friends.dat") == "userID\tfriendID\r\n2\t4\r\n4\t2\r\n4\t6\r\n6\t4\r\n";
  }
};

TEST_F(DataCommand, fetches_from_an_archive) {
  for (const char* prefix : {"", "hetrec2011-lastfm-2k/"}) {
    write("lastfm.zip", small_archive(prefix));
    const auto outcome = fetch("lastfm.zip");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_TRUE(is_in_place()) << outcome.output;
    (void)shell("rm -r sets");
  }
}

TEST_F(DataCommand, fetches_from_a_server) {
  const test::FileServer server(small_archive());
  const auto outcome = fetch(server.url());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("downloaded from http"));
  EXPECT_TRUE(is_in_place());
}

TEST_F(DataCommand, a_broken_transfer_goes_on_where_it_was) {
  test::FileServer server(small_archive());
  server.break_after({100, 50});
  const auto outcome = fetch(server.url());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(server.requests(), ElementsAre(0, 100, 150));
  EXPECT_TRUE(is_in_place());
}

TEST_F(DataCommand, a_transfer_that_keeps_breaking_goes_on_in_the_next_call) {
  test::FileServer server(small_archive());
  server.break_after({10, 10, 10, 10, 10});
  const auto broken = fetch(server.url());
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.output, AllOf(HasSubstr("50 bytes are kept, and the same command goes on from there"),
                                   HasSubstr("To place the files by hand"), HasSubstr("hetrec2011-lastfm-2k.zip")));
  EXPECT_EQ(fetch(server.url()).code, 0);
  EXPECT_EQ(server.requests().back(), 50);
  EXPECT_TRUE(is_in_place());
}

TEST_F(DataCommand, a_server_without_ranges_is_asked_again_from_the_start) {
  test::FileServer server(small_archive());
  server.ignore_ranges();
  server.break_after({100});
  const auto outcome = fetch(server.url());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(server.requests(), ElementsAre(0, 100, 0));
  EXPECT_TRUE(is_in_place());
}

TEST_F(DataCommand, says_how_to_place_files_by_hand_when_it_cannot) {
  test::FileServer server("");
  server.answer_with(404);
  const auto outcome = fetch(server.url());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("status 404"), HasSubstr("goblin data fetch lastfm --from FILE"),
                                    Not(HasSubstr("bytes are kept"))));
}

TEST_F(DataCommand, files_that_were_not_published_are_refused) {
  write("lastfm.zip", small_archive());
  const auto outcome = fetch("lastfm.zip", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("artists.dat"), HasSubstr("SHA-256 differs")));
  EXPECT_EQ(shell("ls sets").output, "");
}

TEST_F(DataCommand, what_is_there_is_not_overwritten) {
  write("lastfm.zip", small_archive());
  ASSERT_EQ(fetch("lastfm.zip").code, 0);
  const auto outcome = fetch("lastfm.zip");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("move it away first"));
}

TEST_F(DataCommand, a_plot_goes_into_a_file_of_any_name) {
  write("lastfm.zip", small_archive());
  ASSERT_EQ(fetch("lastfm.zip").code, 0);
  const auto outcome =
      goblin(R"(data stats --data sets --no-cache --dimension 2 --plot "the user's \"best\" plot.svg")");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(read("the user's \"best\" plot.svg"), HasSubstr("</svg>"));
}

TEST_F(DataCommand, archives_that_leave_the_folder_are_refused) {
  for (const Entries& entries : std::vector<Entries>{
           {{"../outside.dat", "x"}}, {{"a/../../outside.dat", "x"}}, {{"/tmp/goblin-outside.dat", "x"}}}) {
    write("bad.zip", zip_of(entries));
    const auto outcome = fetch("bad.zip");
    EXPECT_EQ(outcome.code, 3) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("would leave the folder"));
  }
  write("bad.zip", zip_of({{"artists.dat", "-> /etc/passwd"}}));
  const auto link = fetch("bad.zip");
  EXPECT_EQ(link.code, 3);
  EXPECT_THAT(link.output, HasSubstr("is no plain file"));
  EXPECT_EQ(shell("find . -name '*outside*'; ls sets").output, "");
}

TEST_F(DataCommand, damaged_archives_are_refused_and_fetched_anew) {
  std::string archive = small_archive();
  test::FileServer broken(archive.substr(0, archive.size() / 2));
  const auto outcome = fetch(broken.url());
  EXPECT_EQ(outcome.code, 3) << outcome.output;
  EXPECT_EQ(shell("ls sets").output, "");
  write("none.zip", "this is no archive");
  EXPECT_EQ(fetch("none.zip").code, 3);
  EXPECT_EQ(fetch("missing.zip").code, 3);
  write("other.zip", zip_of({{"readme.txt", "x"}}));
  EXPECT_THAT(fetch("other.zip").output, HasSubstr("not all files of hetrec2011-lastfm-2k are in it"));
}

TEST_F(DataCommand, stats_show_the_table_beside_the_papers) {
  write("lastfm.zip", small_archive());
  ASSERT_EQ(fetch("lastfm.zip").code, 0);
  const std::string stats = "data stats --data sets --no-cache --dimension 2 ";
  const auto text = goblin(stats);
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, AllOf(::testing::ContainsRegex("nodes +4 +1892\n"),
                                 ::testing::ContainsRegex("average degree +1.000 +13.443\n"),
                                 ::testing::ContainsRegex("known files unchanged +0 of 5\n")));
  const auto json = goblin(stats + "--json");
  EXPECT_THAT(test::on_one_line(json.output),
              AllOf(HasSubstr(R"("name": "Last.fm", "nodes": 4, "edges": 2, "average_degree": 1)"),
                    HasSubstr(R"("items_by_preferences": [[1, 4], [2, 1]])"), HasSubstr("12717")));
  EXPECT_EQ(goblin(stats + "--plot plot.txt").code, 2);
}

TEST_F(DataCommand, stats_of_a_reading) {
  write("lastfm.zip", small_archive());
  ASSERT_EQ(fetch("lastfm.zip").code, 0);
  const std::string stats = "data stats --data sets --no-cache --dimension 2 --json ";
  EXPECT_THAT(goblin(stats).output, HasSubstr(R"("left_out_items": 0)"));
  const auto tagged = goblin(stats + "--reading unit-contexts");
  EXPECT_EQ(tagged.code, 0) << tagged.output;
  EXPECT_THAT(tagged.output, AllOf(HasSubstr(R"("left_out_items": 1)"), HasSubstr(R"("left_out_payoffs": 1)"),
                                   HasSubstr(R"("items": 4)"), HasSubstr(R"("nonzero_payoffs": 5)")));
  EXPECT_THAT(goblin(stats + "--no-keep-untagged --tf sublinear --smooth-idf --unit-contexts").output,
              HasSubstr(R"("items": 4)"));
  const auto unknown = goblin(stats + "--reading theirs");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("centred-unit-contexts"));
  EXPECT_EQ(goblin(stats + "--reading ''").code, 2);
  const auto contradiction = goblin(stats + "--reading unit-contexts --mean-length 3");
  EXPECT_EQ(contradiction.code, 2);
  EXPECT_THAT(contradiction.output, AllOf(HasSubstr("--mean-length: 3"), HasSubstr("unit-contexts")));
}

TEST_F(DataCommand, stats_plot_into_a_file_or_say_what_is_missing) {
  write("lastfm.zip", small_archive());
  ASSERT_EQ(fetch("lastfm.zip").code, 0);
  const std::string stats = "data stats --data sets --no-cache --dimension 2 ";
  const auto without = shell("PATH=/nowhere '" GOBLIN_COMMAND "' " + stats);
  EXPECT_EQ(without.code, 0);
  EXPECT_THAT(without.output, HasSubstr("no plot: it needs the program gnuplot"));
  EXPECT_EQ(shell("PATH=/nowhere '" GOBLIN_COMMAND "' " + stats + " --plot p.svg").code, 1);
  if (shell("command -v gnuplot").code != 0) GTEST_SKIP() << "no gnuplot: the plot itself is not tested";
  EXPECT_EQ(goblin(stats + "--plot p.svg").code, 0);
  EXPECT_THAT(read("p.svg"), AllOf(HasSubstr("<svg"), HasSubstr("Last.fm")));
}

TEST_F(DataCommand, tells_wrong_usage_from_bad_data) {
  EXPECT_EQ(goblin("data").code, 2);
  EXPECT_EQ(shell("unset GOBLIN_DATA; '" GOBLIN_COMMAND "' data stats").code, 2);
  EXPECT_EQ(goblin("data fetch myspace --data .").code, 2);
  EXPECT_EQ(goblin("data stats --data .").code, 3);
  EXPECT_THAT(goblin("data stats --help").output, HasSubstr("Examples:"));
  (void)shell("mkdir hetrec2011-lastfm-2k");
  const auto outcome = goblin("data stats --data . --no-cache");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("artists.dat: the file cannot be opened"));
}

}  // namespace data_test
}  // namespace goblin
