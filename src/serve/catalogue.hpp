#pragma once

#include "phase_fair_lock.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace goblin::serve {

/// The items there are, by name, with their contexts. Many threads ask, one changes.
class Catalogue {
 public:
  void put(std::string_view item, std::vector<double> context);
  void remove(std::string_view item);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::optional<std::vector<double>> find(std::string_view item) const;
  /// Writes the contexts of some items one after the other. Gives the first item that is not there, if there is one.
  [[nodiscard]] std::optional<std::size_t> gather(std::span<const std::string> items, std::vector<double>& out) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  mutable ReadMostlyLock lock_;
  std::unordered_map<std::string, std::vector<double>, Hash, std::equal_to<>> items_;
};

}  // namespace goblin::serve
