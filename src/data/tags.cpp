#include "goblin/data/tags.hpp"

#include <limits>

namespace goblin::data {

std::string utf8_of_latin1(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x80U) {
      result += character;
    } else {
      result += static_cast<char>(0xC0U | (code >> 6U));
      result += static_cast<char>(0x80U | (code & 0x3FU));
    }
  }
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  bool after_c3 = false;  // the first byte of U+00C0 to U+00FF
  for (char& character : result) {
    const auto code = static_cast<unsigned char>(character);
    const bool ascii = character >= 'A' && character <= 'Z';
    const bool latin = after_c3 && code >= 0x80U && code <= 0x9EU && code != 0x97U;  // U+00D7 is a multiplication sign
    if (ascii || latin) character = static_cast<char>(code + 0x20U);
    after_c3 = code == 0xC3U;
  }
  return result;
}

std::vector<std::string> split_tag(std::string_view tag) {
  constexpr std::string_view apostrophe = "&#039";
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  while (!tag.empty()) {
    std::size_t length = 0;  // of the separator here
    if (std::string_view("_-' ").find(tag.front()) != std::string_view::npos) {
      length = 1;
    } else if (tag.starts_with(apostrophe)) {
      length = apostrophe.size();
      if (tag.substr(length).starts_with(';')) ++length;
    }
    if (length > 0) {
      finish();
    } else {
      word += tag.front();
      length = 1;
    }
    tag.remove_prefix(length);
  }
  finish();
  return words;
}

WordCounts count_words(std::size_t item_count, std::span<const std::string> tags, std::span<const Entry> assignments,
                       const WordOptions& options) {
  Names words;
  std::vector<std::vector<NodeId>> words_of(tags.size());
  for (std::size_t tag = 0; tag < tags.size(); ++tag) {
    const std::string text = options.lower_case ? lower_case(tags[tag]) : tags[tag];
    const auto parts = options.split ? split_tag(text) : std::vector<std::string>{text};
    for (const std::string& part : parts) words_of[tag].push_back(words.insert(part));
  }
  std::vector<double> totals(words.size(), 0.0);
  for (const Entry& assignment : assignments) {
    for (const NodeId word : words_of[assignment.column]) totals[word] += assignment.value;
  }

  constexpr NodeId none = std::numeric_limits<NodeId>::max();
  WordCounts result;
  std::vector<NodeId> kept(words.size(), none);
  for (NodeId word = 0; word < words.size(); ++word) {
    if (totals[word] <= 0.0) continue;
    ++result.words_in_all;
    if (totals[word] >= static_cast<double>(options.minimum_count)) kept[word] = result.words.insert(words[word]);
  }
  std::vector<Entry> entries;
  for (const Entry& assignment : assignments) {
    for (const NodeId word : words_of[assignment.column]) {
      if (kept[word] != none) entries.push_back({assignment.row, kept[word], assignment.value});
    }
  }
  result.counts = SparseRows(item_count, result.words.size(), entries);
  return result;
}

}  // namespace goblin::data
