#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// What a key may do. An admin may do everything.
enum class Right : std::uint8_t { none = 0, decide = 1, learn = 2, edit = 4, read = 8, admin = 16 };

[[nodiscard]] std::string_view name_of(Right right);

using Sha256 = std::array<unsigned char, 32>;
[[nodiscard]] std::string hexadecimal(const Sha256& hash);

/// Computes SHA-256 again and again without looking the algorithm up each time. For one thread.
class Sha256Hasher {
 public:
  Sha256Hasher();
  Sha256Hasher(const Sha256Hasher&) = delete;
  Sha256Hasher& operator=(const Sha256Hasher&) = delete;
  ~Sha256Hasher();
  [[nodiscard]] Sha256 operator()(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The keys of a file: one a line, NAME SHA256 right,right,...; empty lines and what follows a # are passed over. The
/// file has no key in it, only what a key hashes to.
class Keys {
 public:
  struct Key {
    std::string name;
    Sha256 hash = {};
    std::uint8_t rights = 0;

    [[nodiscard]] bool may(Right right) const;
  };

  /// Throws DataError with file and line.
  [[nodiscard]] static Keys read(const std::filesystem::path& file);
  [[nodiscard]] static Keys read(std::istream& in, const std::string& file);

  /// The key that has this hash; nullptr if none has. Takes the same time whichever it is, or nearly is.
  [[nodiscard]] const Key* find(const Sha256& hash) const;
  [[nodiscard]] std::span<const Key> all() const { return keys_; }

 private:
  std::vector<Key> keys_;
};

}  // namespace goblin::serve
