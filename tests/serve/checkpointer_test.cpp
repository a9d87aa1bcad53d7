// The write-ahead log goes into the database while the writer goes on, and little of that is left to the writer.
#include "serve/checkpointer.hpp"

#include "serve/sqlite.hpp"
#include "serve/write_back.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

namespace goblin::serve::checkpointer_test {
namespace {

constexpr std::uintmax_t megabyte = 1 << 20;

/// Waits for it, but not for ever.
template <typename Condition>
bool becomes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

class CheckpointerTest : public ::testing::Test {
 protected:
  CheckpointerTest() {
    database_.run(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE numbers (bytes BLOB); "
        "INSERT INTO numbers VALUES (zeroblob(4194304))");
    write_back_.open(file_);
  }
  [[nodiscard]] std::uintmax_t database_bytes() const { return std::filesystem::file_size(file_); }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "log.sqlite";
  WriteBack write_back_;
  Database database_{file_, {.create = true}};
};

TEST_F(CheckpointerTest, moves_the_log_on_a_thread_of_its_own) {
  ASSERT_LT(database_bytes(), megabyte);
  Checkpointer checkpointer(file_, "", 100, write_back_);
  checkpointer.written(99);
  checkpointer.written(1000);
  EXPECT_TRUE(becomes_true([&] { return database_bytes() > 4 * megabyte; }));
}

TEST_F(CheckpointerTest, waits_for_enough_pages) {
  Checkpointer checkpointer(file_, "", 100, write_back_);
  checkpointer.written(99);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(database_bytes(), megabyte);
}

TEST(WriteBack, of_a_file_that_is_not_there_does_nothing) {
  const TemporaryFolder folder;
  WriteBack write_back;
  write_back.open(folder.path() / "missing");
  const WriteBack::Running running(write_back);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace goblin::serve::checkpointer_test
