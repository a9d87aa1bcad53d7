#pragma once

#include "binary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace goblin {

/// The kinds of binary files that goblin writes all have this form:
///
///     magic (8 bytes) | version (4) | length of the content (8) | CRC-32 of the content (4) | CRC-32 of the 24 bytes
///     before (4) | content
struct FileKind {
  std::string_view name;
  std::array<char, 8> magic;
  std::uint32_t version;           ///< the one that is written, and the newest that is read
  std::uint32_t oldest = version;  ///< that is read
};

/// CRC-32 of bytes that follow others; `before` is 0 at the start.
[[nodiscard]] std::uint32_t crc32_of(std::uint32_t before, std::span<const char> bytes);

/// Writes a file, all of it or nothing. Throws std::system_error if it cannot be written.
void write_checked_file(const std::filesystem::path& path, const FileKind& kind,
                        const std::function<void(BinaryWriter&)>& write_content);

/// The bytes of such a file, without the file.
[[nodiscard]] std::string checked_bytes(const FileKind& kind, const std::function<void(BinaryWriter&)>& write_content);

struct CheckedContent {
  std::uint32_t version;
  std::span<const char> bytes;
};

/// The content of such a file; the name is for messages. Throws DataError if it is of another kind, truncated, altered
/// or of a version that is not read, and says which.
[[nodiscard]] CheckedContent checked_content(std::span<const char> bytes, const std::string& name,
                                             const FileKind& kind);

/// The bytes of a file, mapped into memory. Throws DataError if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const char> bytes() const { return bytes_; }

 private:
  std::span<const char> bytes_;
};

}  // namespace goblin
