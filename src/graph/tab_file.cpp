#include "goblin/graph/tab_file.hpp"

#include "goblin/error.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Whether a line starts with any number of backslashes and then with what would make it something else than fields.
bool starts_specially(std::string_view line) {
  const std::string_view rest = line.substr(std::min(line.find_first_not_of('\\'), line.size()));
  return rest.starts_with('#') || rest.starts_with(byte_order_mark);
}

}  // namespace

std::string tab_line_start(std::string_view name) {
  if (name.empty() || name.find_first_of("\t\n") != std::string_view::npos) {
    throw std::invalid_argument(fmt::format(
        "name: '{}' (must not be empty, and must have no tab and no line end, to stand in a tab-separated file)",
        name));
  }
  return fmt::format("{}{}", starts_specially(name) ? "\\" : "", name);
}

std::ifstream open_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path.string(), 0, "the file cannot be opened");
  return in;
}

void TabReader::fail(const std::string& reason) const { throw DataError(name_, line_, reason); }

bool TabReader::next_line(std::string_view& line) {
  constexpr std::size_t block_size = std::size_t{1} << 18;
  std::size_t searched = begin_;
  for (;;) {
    if (const auto end = block_.find('\n', searched); end != std::string::npos) {
      line = std::string_view(block_).substr(begin_, end - begin_);
      begin_ = end + 1;
      ++line_;
      return true;
    }
    block_.erase(0, begin_);
    begin_ = 0;
    searched = block_.size();
    block_.resize(searched + block_size);
    in_.read(block_.data() + searched, static_cast<std::streamsize>(block_size));
    block_.resize(searched + static_cast<std::size_t>(in_.gcount()));
    if (in_.bad()) fail("the file cannot be read");
    if (block_.size() == searched) {  // the end, perhaps without a line end
      if (block_.empty()) return false;
      line = block_;
      begin_ = block_.size();
      ++line_;
      return true;
    }
  }
}

bool TabReader::next() {
  std::string_view line;
  while (next_line(line)) {
    if (line_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '\\' && starts_specially(line)) line.remove_prefix(1);
    fields_.clear();
    for (;;) {
      const auto tab = line.find('\t');
      fields_.push_back(line.substr(0, tab));
      if (tab == std::string_view::npos) return true;
      line.remove_prefix(tab + 1);
    }
  }
  return false;
}

template <typename Number>
Number TabReader::parse(std::size_t field, std::string_view kind) const {
  const std::string_view text = fields_[field];
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) fail(fmt::format("'{}' is not a {}", text, kind));
  return value;
}

double TabReader::number(std::size_t field) const { return parse<double>(field, "number"); }

std::uint64_t TabReader::whole(std::size_t field) const { return parse<std::uint64_t>(field, "whole number"); }

}  // namespace goblin
