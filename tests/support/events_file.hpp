#pragma once

#include "binary.hpp"
#include "checked_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Writes files of the form that docs/events-file.md describes, block by block; Python's goblin.write_events is the
/// program that people use.
namespace goblin::test {

class EventsFileWriter {
 public:
  explicit EventsFileWriter(std::size_t dimension, bool named, std::uint32_t version = 1) {
    bytes = std::string("\x89GOE\r\n\x1a\n", 8);
    BinaryWriter out = writer(bytes);
    out.number(version);
    out.size(dimension);
    out.number(static_cast<std::uint32_t>(named ? 1 : 0));
    out.number(crc32_of(0, bytes));
  }

  void names(const std::vector<std::string>& texts) {
    std::string content;
    for (const std::string& text : texts) writer(content).text(text);
    block(1, content);
  }
  void rewards(const std::vector<std::uint32_t>& users, const std::vector<double>& rewards,
               const std::vector<double>& contexts) {
    std::string content;
    BinaryWriter out = writer(content);
    out.size(users.size());
    for (const std::uint32_t user : users) out.number(user);
    for (const double reward : rewards) out.number(reward);
    for (const double number : contexts) out.number(number);
    block(2, content);
  }
  void end(std::size_t count) {
    std::string content;
    writer(content).size(count);
    block(3, content);
  }
  void block(std::uint32_t kind, const std::string& content) {
    std::string header;
    BinaryWriter out = writer(header);
    out.number(kind);
    out.size(content.size());
    out.number(crc32_of(0, content));
    out.number(crc32_of(0, header));
    bytes += header + content;
  }

  std::string bytes;

 private:
  static BinaryWriter writer(std::string& text) {
    return BinaryWriter([&text](const char* from, std::size_t size) { text.append(from, size); });
  }
};

}  // namespace goblin::test
