#include "serve/malformed.hpp"

#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace goblin::serve {
namespace {

using Json = nlohmann::json;

/// Follows a parser through the text and remembers where it is.
class Place : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return next(); }
  bool boolean(bool) override { return next(); }
  bool number_integer(number_integer_t) override { return next(); }
  bool number_unsigned(number_unsigned_t) override { return next(); }
  bool number_float(number_float_t, const string_t&) override { return next(); }
  bool string(string_t&) override { return next(); }
  bool binary(binary_t&) override { return next(); }
  bool start_object(std::size_t) override { return open({}); }
  bool start_array(std::size_t) override { return open({.is_array = true}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().name = name;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& last, const Json::exception& error) override {
    constexpr int number_overflow = 406;
    constexpr std::size_t longest_number = 40;
    if (error.id == number_overflow) {
      found_ =
          fmt::format("{}: {} (must be between -1.8e308 and 1.8e308)", path(),
                      last.size() <= longest_number ? last : fmt::format("a number of {} characters", last.size()));
      is_number_ = true;
      return false;
    }
    std::string_view message = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...": from the syntax on.
    if (const std::size_t begin = message.find("syntax error"); begin != std::string_view::npos) {
      message.remove_prefix(begin);
    } else if (const std::size_t end = message.find("] "); end != std::string_view::npos) {
      message.remove_prefix(end + 2);
    }
    constexpr std::size_t most = 40;
    const std::string where = path();
    found_ = fmt::format("{}{}byte {}: {}", where, where.empty() ? "" : ", ", position,
                         last.size() <= most ? message : "this is not JSON");
    return false;
  }

  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] bool is_number() const { return is_number_; }

 private:
  struct Level {
    bool is_array = false;
    std::size_t index = 0;
    std::string name = {};
  };

  bool next() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool open(Level level) {
    constexpr std::size_t deepest = 64;
    if (levels_.size() == deepest) {
      found_ = fmt::format("{}: is nested too deeply", path());
      return false;
    }
    levels_.push_back(std::move(level));
    return true;
  }
  bool close() {
    levels_.pop_back();
    return next();
  }
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Level& level : levels_) {
      if (level.is_array) {
        text += fmt::format("[{}]", level.index);
      } else {
        text += (text.empty() ? "" : ".") + level.name;
      }
    }
    return text;
  }

  std::vector<Level> levels_;
  std::string found_;
  bool is_number_ = false;
};

}  // namespace

Malformed what_is_malformed(std::string_view body, std::string_view reason) {
  // The slow parser would take a tenth of a second for the longest bodies.
  constexpr std::size_t longest = std::size_t{1} << 16U;
  if (body.size() <= longest) {
    Place place;
    if (!Json::sax_parse(body.begin(), body.end(), &place) && !place.found().empty()) {
      return {.detail = place.found(), .is_number = place.is_number()};
    }
  }
  return {.detail = std::string(reason)};
}

}  // namespace goblin::serve
