#include "goblin/graph/names.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace goblin {

std::optional<std::size_t> number_named(std::string_view text) {
  std::size_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  if (error != std::errc() || end != text_end || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  return number;
}

std::size_t Names::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(name)&mask;
  while (slots_[slot] != 0 && (*this)[slots_[slot] - 1] != name) slot = (slot + 1) & mask;
  return slot;
}

std::optional<NodeId> Names::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const NodeId entry = slots_[slot_of(name)];
  if (entry == 0) return std::nullopt;
  return entry - 1;
}

NodeId Names::insert(std::string_view name) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const std::size_t slot = slot_of(name);
  if (slots_[slot] == 0) {
    check_room();
    text_.resize(ends_.empty() ? 0 : ends_.back());  // without a name that memory ran out for
    text_ += name;
    ends_.push_back(text_.size());
    slots_[slot] = static_cast<NodeId>(ends_.size());
  }
  return slots_[slot] - 1;
}

void Names::keep_first(std::size_t count) {
  while (size() > count) {
    if (is_nameless(size() - 1)) {
      nameless_.pop_back();
    } else {
      slots_[slot_of((*this)[size() - 1])] = 0;  // none that came later has been moved on by it
    }
    ends_.pop_back();
  }
}

void Names::check_room() const {
  if (size() + 1 >= std::numeric_limits<NodeId>::max()) throw std::length_error("names: more than 4294967294");
}

NodeId Names::insert_nameless() {
  check_room();
  nameless_.push_back(static_cast<NodeId>(size()));
  ends_.push_back(text_.size());
  return nameless_.back();
}

bool Names::is_nameless(std::size_t index) const {
  return std::binary_search(nameless_.begin(), nameless_.end(), index);
}

void Names::remove(std::span<const NodeId> indices) {
  Names rest;
  for (std::size_t index = 0; index < size(); ++index) {
    if (is_nameless(index) || std::binary_search(indices.begin(), indices.end(), index)) {
      rest.insert_nameless();
    } else {
      rest.insert((*this)[index]);
    }
  }
  *this = std::move(rest);
}

/// Twice as many, and more where indices came without a name.
void Names::grow() {
  std::size_t count = slots_.empty() ? 16 : 2 * slots_.size();
  while (2 * (size() + 1) > count) count *= 2;
  slots_.assign(count, 0);
  for (std::size_t index = 0; index < size(); ++index) {
    if (!is_nameless(index)) slots_[slot_of((*this)[index])] = static_cast<NodeId>(index + 1);
  }
}

std::size_t Names::bytes() const {
  return text_.capacity() + ends_.capacity() * sizeof(std::uint64_t) +
         (slots_.capacity() + nameless_.capacity()) * sizeof(NodeId);
}

}  // namespace goblin
