#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

/// Runs the goblin command in a folder of its own, one for each test.
namespace goblin::test {

struct Outcome {
  int code = -1;
  std::string output;  // what it wrote to standard output and standard error
};

class Command : public ::testing::Test {
 protected:
  Command() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("goblin-") + info->test_suite_name() + "-" + info->name() + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~Command() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Runs `goblin ARGUMENTS` through the shell.
  [[nodiscard]] Outcome goblin(const std::string& arguments) const {
    return shell("'" GOBLIN_COMMAND "' " + arguments);
  }

  [[nodiscard]] Outcome shell(const std::string& line) const {
    const std::string command = "cd '" + folder_.string() + "' && { " + line + "\n} 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    Outcome outcome;
    char block[4096];
    for (std::size_t count = 0; (count = std::fread(block, 1, sizeof block, pipe)) > 0;) {
      outcome.output.append(block, count);
    }
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace goblin::test
