#include "events.hpp"
#include "reward_log.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr std::size_t piece_size = std::size_t{1} << 20U;
constexpr std::size_t longest_line = std::size_t{1} << 30U;

class JsonLines final : public RewardFormat {
 public:
  JsonLines(std::unique_ptr<ByteSource> source, std::string beginning, std::size_t dimension,
            std::shared_ptr<const Items> items)
      : source_(std::move(source)),
        dimension_(dimension_with(items.get(), dimension)),
        items_(std::move(items)),
        left_(std::move(beginning)) {}

  /// Whole lines: about a megabyte of them, or fewer if the log pauses.
  std::optional<Piece> read() override {
    Piece piece;
    piece.bytes.resize(std::max(piece_size, 2 * left_.size()) + simdjson::SIMDJSON_PADDING);
    std::copy(left_.begin(), left_.end(), piece.bytes.begin());
    piece.size = std::exchange(left_, {}).size();
    for (;;) {
      const std::size_t room = piece.bytes.size() - simdjson::SIMDJSON_PADDING;
      const std::size_t count = source_->read(std::span(piece.bytes).subspan(piece.size, room - piece.size));
      if (count == 0) break;
      piece.size += count;
      if (piece.size < room && !source_->pauses()) continue;
      const auto* last = static_cast<const char*>(::memrchr(piece.bytes.data(), '\n', piece.size));
      if (last != nullptr) {
        const auto whole = static_cast<std::size_t>(last + 1 - piece.bytes.data());
        left_.assign(piece.bytes.data() + whole, piece.size - whole);
        piece.size = whole;
        return piece;
      }
      if (piece.size < room) continue;
      if (room >= longest_line) {
        piece.size = 0;
        piece.bad = BadPlace{.at = 0, .reason = fmt::format("is longer than {} bytes", longest_line)};
        return piece;
      }
      piece.bytes.resize(2 * piece.bytes.size());
    }
    // A line that was cut off by a stop is no event.
    if (piece.size == 0 || !source_->whole()) return std::nullopt;
    return piece;
  }

  [[nodiscard]] RewardBlock parse(const Piece& piece) const override {
    RewardBlock block;
    block.bytes = piece.size;
    block.bad = piece.bad;
    EventReader reader(dimension_, items_);
    std::string_view left(piece.bytes.data(), piece.size);
    while (!left.empty()) {
      const std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(std::min(left.size(), line.size() + 1));
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
        try {
          take(reader.read_padded(line), block);
        } catch (const std::invalid_argument& error) {
          block.bad = BadPlace{.at = block.length, .reason = error.what()};
          return block;
        }
      }
      ++block.length;
    }
    return block;
  }

  void stop() override { source_->stop(); }
  [[nodiscard]] std::string unit() const override { return "line"; }
  [[nodiscard]] std::string user_name(std::uint32_t /*number*/) const override { return {}; }

 private:
  void take(const Event& event, RewardBlock& block) const {
    if (event.kind == Event::Kind::decide) {
      ++block.passed_over;
      return;
    }
    if (event.kind == Event::Kind::decide_and_learn) {
      throw std::invalid_argument(
          "has 'rewards', and does not say which of the candidates was shown (must have an 'action' that does, and its "
          "'reward'; goblin replay decides)");
    }
    block.names += event.user;
    block.name_ends.push_back(block.names.size());
    const auto context = event.context(event.action, dimension_);
    block.contexts.insert(block.contexts.end(), context.begin(), context.end());
    block.rewards.push_back(event.rewards[0]);
    block.places.push_back(block.length);
  }

  std::unique_ptr<ByteSource> source_;
  std::size_t dimension_;
  std::shared_ptr<const Items> items_;
  std::string left_;  // after the last whole line
};

}  // namespace

std::unique_ptr<RewardFormat> json_lines(std::unique_ptr<ByteSource> source, std::string beginning,
                                         std::size_t dimension, std::shared_ptr<const Items> items) {
  return std::make_unique<JsonLines>(std::move(source), std::move(beginning), dimension, std::move(items));
}

}  // namespace goblin::app
