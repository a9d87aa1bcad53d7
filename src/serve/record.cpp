#include "serve/record.hpp"

#include <fmt/format.h>

namespace goblin::serve {

std::string event_of(Offset decision) { return fmt::format("g-{}", decision); }

std::string early_event(std::uint64_t start, std::uint64_t number) { return fmt::format("g-{}-{}", start, number); }

std::optional<std::uint64_t> early_number(std::string_view event) {
  // A million millions of decisions, and eight millions of starts.
  constexpr unsigned bits = 40;
  constexpr unsigned most_bits = 63;  // SQLite's whole numbers have a sign
  const std::size_t middle = event.find('-', 2);
  if (!event.starts_with("g-") || middle == std::string_view::npos) return std::nullopt;
  const auto start = number_named(event.substr(2, middle - 2));
  const auto number = number_named(event.substr(middle + 1));
  if (!start || !number || *start >> (most_bits - bits) != 0 || *number >> bits != 0) return std::nullopt;
  return (static_cast<std::uint64_t>(*start) << bits) | *number;
}

std::optional<Offset> decision_of(std::string_view event) {
  if (!event.starts_with("g-")) return std::nullopt;
  return number_named(event.substr(2));
}

std::string with_partition(std::string event, std::size_t partition) {
  if (!event.starts_with("g-") || partition_of_event(event)) return event;
  return fmt::format("g-{}:{}", partition, event.substr(2));
}

std::string without_partition(std::string event) {
  if (partition_of_event(event)) event.erase(2, event.find(':') - 1);
  return event;
}

std::optional<std::size_t> partition_of_event(std::string_view event) {
  const std::size_t colon = event.find(':');
  if (!event.starts_with("g-") || colon == std::string_view::npos) return std::nullopt;
  return number_named(event.substr(2, colon - 2));
}

}  // namespace goblin::serve
