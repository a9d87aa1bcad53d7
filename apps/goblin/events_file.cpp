// The binary form of a log of rewards: docs/events-file.md.

#include "binary.hpp"
#include "checked_file.hpp"
#include "goblin/error.hpp"
#include "reward_log.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr std::array<char, 8> magic = {'\x89', 'G', 'O', 'E', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t version = 1;
constexpr std::size_t header_size = 28;
constexpr std::size_t block_header_size = 20;
constexpr std::size_t largest_block = std::size_t{1} << 30U;

enum class Kind : std::uint32_t { names = 1, rewards = 2, end = 3 };

constexpr const char* altered = "was altered: a checksum does not match";
constexpr const char* inconsistent = "its content is inconsistent";

class EventsFile final : public RewardFormat {
 public:
  EventsFile(std::unique_ptr<ByteSource> source, std::string beginning, std::size_t dimension, const std::string& name)
      : source_(std::move(source)), dimension_(dimension) {
    std::string header = std::move(beginning);
    const std::size_t there = header.size();
    header.resize(header_size);
    if (there + source_->read_all(std::span(header).subspan(there)) < header_size) {
      ended_ = !source_->whole();
      if (ended_) return;  // it was stopped: nothing is wrong with the file
      throw DataError(name, 0, "is truncated: it ends within its header");
    }
    BinaryReader in(std::span<const char>(header).subspan(magic.size()), name);
    const auto file_version = in.number<std::uint32_t>();
    const auto file_dimension = in.number<std::uint64_t>();
    const auto named = in.number<std::uint32_t>();
    if (in.number<std::uint32_t>() != crc32_of(0, std::span(header).first(header_size - 4))) in.fail(altered);
    if (file_version != version) {
      in.fail(fmt::format("is of version {}: this goblin reads version {}", file_version, version));
    }
    in.expect(named <= 1, "whether users have names");
    if (file_dimension != dimension) {
      in.fail(fmt::format("has contexts of {} numbers (must be the dimension, {})", file_dimension, dimension));
    }
    named_ = named == 1;
  }

  /// The next block of rewards; blocks of names on the way are taken in. Where nothing can be read on, an empty piece
  /// says why.
  std::optional<Piece> read() override {
    if (ended_) return std::nullopt;
    for (;;) {
      std::array<char, block_header_size> header;
      const std::size_t there = source_->read_all(header);
      if (!source_->whole()) return std::nullopt;
      if (there < header.size()) return bad("is truncated");
      BinaryReader in(header, "");
      const auto kind = static_cast<Kind>(in.number<std::uint32_t>());
      const auto length = in.number<std::uint64_t>();
      const auto checksum = in.number<std::uint32_t>();
      if (in.number<std::uint32_t>() != crc32_of(0, std::span(header).first(header.size() - 4))) return bad(altered);
      if (length > largest_block) return bad(inconsistent);
      Piece piece;
      // What is not there takes no memory.
      while (piece.size < length) {
        piece.bytes.resize(std::min<std::size_t>(length, std::max<std::size_t>(2 * piece.size, 1U << 24U)));
        const std::size_t count = source_->read_all(std::span(piece.bytes).subspan(piece.size));
        if (!source_->whole()) return std::nullopt;
        piece.size += count;
        if (piece.size < piece.bytes.size()) return bad("is truncated");
      }
      if (crc32_of(0, std::span<const char>(piece.bytes)) != checksum) return bad(altered);
      try {
        if (kind == Kind::rewards) {
          BinaryReader content(piece.bytes, "");
          rewards_ += content.size();
          piece.users = user_count();
          return piece;
        }
        if (kind == Kind::names && named_) {
          take_names(piece);
        } else if (kind == Kind::end) {
          return finish(piece);
        } else {
          return bad(inconsistent);
        }
      } catch (const DataError&) {
        return bad(inconsistent);
      }
    }
  }

  [[nodiscard]] RewardBlock parse(const Piece& piece) const override {
    RewardBlock block;
    block.bytes = piece.size + block_header_size;
    block.bad = piece.bad;
    if (block.bad) return block;
    try {
      BinaryReader in(piece.bytes, "");
      const std::size_t count = in.size(in.left(), "the number of rewards");
      in.expect(in.left() == count * (sizeof(std::uint32_t) + (1 + dimension_) * sizeof(double)), "the length");
      block.numbers = in.numbers<std::uint32_t>(count);
      block.rewards = in.numbers<double>(count);
      block.contexts = in.numbers<double>(count * dimension_);
      for (const std::uint32_t user : block.numbers) in.expect(user < piece.users, "a user");
      block.length = count;
      block.places.resize(count);
      for (std::size_t k = 0; k < count; ++k) block.places[k] = k;
      return block;
    } catch (const DataError&) {
      RewardBlock nothing;
      nothing.bad = BadPlace{.at = 0, .reason = inconsistent, .of_one = false};
      return nothing;
    }
  }

  void stop() override { source_->stop(); }
  [[nodiscard]] std::string unit() const override { return "reward"; }
  [[nodiscard]] std::string user_name(std::uint32_t number) const override {
    if (!named_) return fmt::format("{}", number);
    const std::lock_guard lock(names_lock_);
    return names_[number];
  }

 private:
  std::optional<Piece> bad(const char* reason) {
    ended_ = true;
    Piece piece;
    piece.bad = BadPlace{.at = 0, .reason = reason, .of_one = false};
    return piece;
  }

  [[nodiscard]] std::size_t user_count() const {
    if (!named_) return std::size_t{1} << 32U;
    const std::lock_guard lock(names_lock_);
    return names_.size();
  }

  void take_names(const Piece& piece) {
    BinaryReader in(piece.bytes, "");
    const std::lock_guard lock(names_lock_);
    while (in.left() > 0) {
      names_.emplace_back(in.text());
      in.expect(!names_.back().empty(), "a name");
    }
  }

  /// The last block says how many rewards there are, and nothing follows.
  std::optional<Piece> finish(const Piece& piece) {
    BinaryReader in(piece.bytes, "");
    const std::size_t count = in.size();
    in.expect(in.left() == 0 && count == rewards_, "the number of rewards");
    char more = 0;
    if (source_->read({&more, 1}) > 0) return bad("was altered: bytes follow its end");
    ended_ = true;
    return std::nullopt;
  }

  std::unique_ptr<ByteSource> source_;
  std::size_t dimension_;
  bool named_ = false;
  bool ended_ = false;
  std::size_t rewards_ = 0;  // that were read
  mutable std::mutex names_lock_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<RewardFormat> events_file(std::unique_ptr<ByteSource> source, std::string beginning,
                                          std::size_t dimension, const std::string& name) {
  return std::make_unique<EventsFile>(std::move(source), std::move(beginning), dimension, name);
}

std::unique_ptr<RewardFormat> format_of(std::unique_ptr<ByteSource> source, std::size_t dimension,
                                        const std::string& name, std::shared_ptr<const data::Items> items) {
  std::string beginning(magic.size(), '\0');
  beginning.resize(source->read_all(beginning));
  if (std::equal(beginning.begin(), beginning.end(), magic.begin(), magic.end())) {
    return events_file(std::move(source), std::move(beginning), dimension, name);
  }
  return json_lines(std::move(source), std::move(beginning), dimension, std::move(items));
}

}  // namespace goblin::app
