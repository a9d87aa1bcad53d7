#pragma once

#include "temporary_folder.hpp"

#include <cstdio>
#include <regex>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>

/// Runs the goblin command in a folder of its own, one for each test.
namespace goblin::test {

struct Outcome {
  int code = -1;
  std::string output;  // what it wrote to standard output and standard error
};

/// JSON that was printed for people, on one line: `{"a": [1, 2], "b": 3}`.
inline std::string on_one_line(std::string json) {
  json = std::regex_replace(json, std::regex(R"(([\[{])\n *)"), "$1");
  json = std::regex_replace(json, std::regex(R"(\n *([\]}]))"), "$1");
  return std::regex_replace(json, std::regex(R"(,\n *)"), ", ");
}

class Command : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { write_file(folder_ / name, text); }
  [[nodiscard]] std::string read(const std::string& name) const { return content_of(folder_ / name); }

  /// Runs `goblin ARGUMENTS` through the shell.
  [[nodiscard]] Outcome goblin(const std::string& arguments) const {
    return shell("'" GOBLIN_COMMAND "' " + arguments);
  }

  [[nodiscard]] Outcome shell(const std::string& line) const {
    const std::string command = "cd '" + folder_.path().string() + "' && { " + line + "\n} 2>&1";
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
  TemporaryFolder folder_;
};

}  // namespace goblin::test
