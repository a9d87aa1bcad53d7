#include "goblin/graph/names.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <stdexcept>
#include <system_error>

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
  if (empty()) return std::nullopt;
  const NodeId entry = slots_[slot_of(name)];
  if (entry == 0) return std::nullopt;
  return entry - 1;
}

NodeId Names::insert(std::string_view name) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const std::size_t slot = slot_of(name);
  if (slots_[slot] == 0) {
    if (size() + 1 >= std::numeric_limits<NodeId>::max()) throw std::length_error("names: more than 4294967294");
    text_ += name;
    ends_.push_back(text_.size());
    slots_[slot] = static_cast<NodeId>(ends_.size());
  }
  return slots_[slot] - 1;
}

void Names::grow() {
  slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), 0);
  for (std::size_t index = 0; index < size(); ++index) {
    slots_[slot_of((*this)[index])] = static_cast<NodeId>(index + 1);
  }
}

std::size_t Names::bytes() const {
  return text_.capacity() + ends_.capacity() * sizeof(std::uint64_t) + slots_.capacity() * sizeof(NodeId);
}

}  // namespace goblin
