#include "goblin/world/catalogue.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::world {

Catalogue::Catalogue(data::Dataset data, const CatalogueOptions& options)
    : Catalogue(std::make_shared<const data::Dataset>(std::move(data)), options) {}

Catalogue::Catalogue(std::shared_ptr<const data::Dataset> data, const CatalogueOptions& options)
    : data_(std::move(data)), options_(options) {
  if (options.arms == 0 || options.arms > data_->items.size()) {
    throw std::invalid_argument(fmt::format("arms: {} (must be at least 1 and at most the number of items, {})",
                                            options.arms, data_->items.size()));
  }
  for (NodeId user = 0; user < data_->payoffs.row_count(); ++user) {
    if (!data_->payoffs.columns(user).empty()) users_.push_back(user);
  }
  if (users_.empty()) throw std::invalid_argument("data: no nonzero payoff (must have at least 1)");
}

void Catalogue::round(std::uint64_t t, Round& round) const {
  Random random(options_.seed, options_.repetition, t);
  round.user = users_[random.below(users_.size())];
  const auto paying = data_->payoffs.columns(round.user);
  auto& items = round.items;
  items.clear();
  items.push_back(paying[random.below(paying.size())]);
  while (items.size() < options_.arms) {
    const auto item = static_cast<NodeId>(random.below(data_->items.size()));
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
  }
  std::swap(items.front(), items[random.below(items.size())]);

  const std::size_t d = dimension();
  round.contexts.resize(items.size() * d);
  round.payoffs.resize(items.size());
  round.expected.clear();
  for (std::size_t arm = 0; arm < items.size(); ++arm) {
    const auto context = data_->context(items[arm]);
    std::copy(context.begin(), context.end(), round.contexts.begin() + static_cast<std::ptrdiff_t>(arm * d));
    round.payoffs[arm] = data_->payoffs.at(round.user, items[arm]);
  }
}

}  // namespace goblin::world
