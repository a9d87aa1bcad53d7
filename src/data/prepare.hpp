#pragma once

#include "goblin/data/dataset.hpp"

#include <span>
#include <string>

namespace goblin::data {

/// The contexts of a dataset's items from their tags, and what the summary says about words. Items and payoffs must be
/// there; those that the options leave out are gone afterwards.
void set_contexts_from_tags(Dataset& dataset, std::span<const std::string> tags, std::span<const Entry> assignments,
                            std::size_t minimum_count, const ContextOptions& options);

/// What the summary says about graph and payoffs.
void summarize_graph_and_payoffs(Dataset& dataset);

}  // namespace goblin::data
