#include "serve/catalogue.hpp"

#include <utility>

namespace goblin::serve {

void Catalogue::put(std::string_view item, std::vector<double> context) {
  std::string name(item);
  const std::lock_guard nobody_else(lock_);
  items_.insert_or_assign(std::move(name), std::move(context));
}

void Catalogue::remove(std::string_view item) {
  const std::lock_guard nobody_else(lock_);
  if (const auto place = items_.find(item); place != items_.end()) items_.erase(place);
}

std::size_t Catalogue::size() const {
  const std::shared_lock stays(lock_);
  return items_.size();
}

std::optional<std::vector<double>> Catalogue::find(std::string_view item) const {
  const std::shared_lock stays(lock_);
  const auto place = items_.find(item);
  return place == items_.end() ? std::nullopt : std::optional(place->second);
}

std::optional<std::size_t> Catalogue::gather(std::span<const std::string> items, std::vector<double>& out) const {
  out.clear();
  const std::shared_lock stays(lock_);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto place = items_.find(std::string_view(items[k]));
    if (place == items_.end()) return k;
    out.insert(out.end(), place->second.begin(), place->second.end());
  }
  return std::nullopt;
}

}  // namespace goblin::serve
