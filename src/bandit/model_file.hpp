#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// A bandit as bytes; docs/model-file.md has the format.
///
///     magic (8 bytes) | version (4) | length of the content (8) | CRC-32 of the content (4) | CRC-32 of the 24 bytes
///     before (4) | content
class ModelFile {
 public:
  static void write(const Bandit& bandit, const std::filesystem::path& path, const Names& names);
  [[nodiscard]] static std::string bytes(const Bandit& bandit);
  [[nodiscard]] static Bandit read(const std::filesystem::path& path);
  /// The name is for messages.
  [[nodiscard]] static Bandit parse(std::span<const char> bytes, const std::string& name);

 private:
  static void write_content(const Bandit& bandit, const Names& names, BinaryWriter& out);
  static Bandit parse_content(BinaryReader& in, std::uint32_t version);
};

}  // namespace goblin
