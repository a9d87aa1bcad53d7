#pragma once

#include "temporary_folder.hpp"

#include <filesystem>

namespace goblin {

/// Four users, five artists and six tags in the form of the Last.fm release, with each of its quirks: ids with gaps,
/// CRLF and LF, Latin-1, a tagged artist who is not listed (9), one without tags (50), a tag that nobody uses (40), and
/// a user who is nobody's friend (8).
inline void write_small_lastfm(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / "artists.dat",
             "id\tname\turl\tpictureURL\n"
             "10\tAnn \xC3\x98\thttp://a\thttp://p\n20\tB\tu\tp\n30\tC\tu\tp\n40\tD # d\tu\tp\n50\tE\tu\t\n");
  write_file(folder / "tags.dat",
             "tagID\ttagValue\r\n1\tRock\r\n2\trock and roll\r\n5\tlo-fi\r\n7\tchanson fran\xE7"
             "aise\r\n8\t'80s\r\n40\tnobody\r\n");
  write_file(folder / "user_friends.dat", "userID\tfriendID\r\n2\t4\r\n4\t2\r\n4\t6\r\n6\t4\r\n");
  write_file(
      folder / "user_artists.dat",
      "userID\tartistID\tweight\r\n2\t10\t13883\r\n2\t20\t1\r\n4\t30\t7\r\n6\t40\t5\r\n6\t50\t3\r\n8\t10\t2\r\n");
  write_file(folder / "user_taggedartists.dat",
             "userID\tartistID\ttagID\tday\tmonth\tyear\r\n"
             "2\t10\t1\t1\t4\t2009\r\n4\t10\t1\t1\t4\t2009\r\n2\t10\t2\t1\t4\t2009\r\n"
             "4\t20\t5\t1\t4\t2009\r\n6\t30\t7\t1\t4\t2009\r\n6\t40\t8\t1\t4\t2009\r\n8\t9\t1\t1\t4\t2009\r\n");
}

/// Three users, three pages and three tags in the form of the Delicious release.
inline void write_small_delicious(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / "bookmarks.dat",
             "id\tmd5\ttitle\turl\tmd5Principal\turlPrincipal\r\n"
             "1\tm\tone\tu\tm\tu\r\n3\tm\tthree\tu\tm\tu\r\n7\tm\tseven\tu\tm\tu\r\n");
  write_file(folder / "tags.dat", "id\tvalue\r\n2\tweb_design\r\n3\tkid&#039s\r\n9\tweb_design\r\n");
  write_file(folder / "user_contacts.dat",
             "userID\tcontactID\tdate_day\tdate_month\tdate_year\tdate_hour\tdate_minute\tdate_second\r\n"
             "8\t9\t4\t10\t2010\t2\t14\t19\r\n9\t8\t4\t10\t2010\t2\t14\t19\r\n");
  write_file(folder / "bookmark_tags.dat",
             "bookmarkID\ttagID\ttagWeight\r\n1\t2\t6\r\n3\t9\t4\r\n3\t3\t10\r\n7\t3\t1\r\n");
  write_file(folder / "user_taggedbookmarks.dat",
             "userID\tbookmarkID\ttagID\tday\tmonth\tyear\thour\tminute\tsecond\r\n"
             "8\t1\t2\t1\t1\t2010\t0\t0\t0\r\n8\t1\t3\t1\t1\t2010\t0\t0\t0\r\n12\t7\t3\t1\t1\t2010\t0\t0\t0\r\n");
}

}  // namespace goblin
