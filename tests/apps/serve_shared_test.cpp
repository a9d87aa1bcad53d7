#include "serve_shared.hpp"

#include "saving.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <ostream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::app {
namespace serve_shared_test {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ServeShared, what_learns_or_forgets_across_all_users_has_one_partition) {
  const std::string topic = "kafka://one:9092/clicks";
  BanditOptions options;
  EXPECT_NO_THROW(check_that_it_divides(Policy::gob_lin, options, 1, topic));
  EXPECT_NO_THROW(check_that_it_divides(Policy::gob_lin_block, options, 4, topic));
  EXPECT_THAT([&] { check_that_it_divides(Policy::gob_lin, options, 4, topic); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("clicks has 4 partitions (must have 1 for gob.lin")));
  // A discount counts the rewards of one user, a window those of all.
  options.forgetting.discount = 0.9;
  EXPECT_NO_THROW(check_that_it_divides(Policy::linucb_ind, options, 4, topic));
  options.forgetting = {.window = 100};
  EXPECT_NO_THROW(check_that_it_divides(Policy::linucb_ind, options, 1, topic));
  EXPECT_THAT([&] { check_that_it_divides(Policy::linucb_ind, options, 4, topic); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("--window: 100 (must be 0 for the 4 partitions of kafka://one:9092/clicks")));
}

TEST(NewFile, takes_the_place_of_another_one_only_if_it_is_kept) {
  const TemporaryFolder folder;
  const auto text = [&] { return content_of(folder / "table"); };
  const auto write = [](const char* words) { return [words](std::ostream& out) { out << words; }; };
  { const NewFile file(folder / "table", write("first")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is left of it";
  NewFile(folder / "table", write("second")).keep();
  EXPECT_EQ(text(), "second");
  {
    NewFile file(folder / "table", write("third"));
    EXPECT_EQ(text(), "second");
    file.keep();
  }
  EXPECT_EQ(text(), "third");
  EXPECT_THROW(NewFile(folder / "none/table", write("fourth")), std::system_error);
}

}  // namespace serve_shared_test
}  // namespace goblin::app
