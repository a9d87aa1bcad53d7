#include "data/prepare.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace goblin::data {
namespace {

/// Leaves out the items without words, their payoffs and their empty rows of counts.
SparseRows without_untagged(Dataset& dataset, const SparseRows& counts) {
  constexpr auto none = static_cast<NodeId>(-1);
  std::vector<NodeId> place(dataset.items.size(), none);
  Names items;
  for (std::size_t item = 0; item < place.size(); ++item) {
    if (!counts.columns(item).empty()) place[item] = items.insert(dataset.items[item]);
  }
  if (items.empty()) throw std::invalid_argument("keep_untagged: false (no item has a word that counts)");
  auto words = counts.entries();
  for (Entry& entry : words) entry.row = place[entry.row];
  auto payoffs = dataset.payoffs.entries();
  std::erase_if(payoffs, [&](const Entry& entry) { return place[entry.column] == none; });
  for (Entry& entry : payoffs) entry.column = place[entry.column];

  dataset.summary.left_out_items = place.size() - items.size();
  dataset.summary.left_out_payoffs = dataset.payoffs.size() - payoffs.size();
  dataset.payoffs = SparseRows(dataset.payoffs.row_count(), items.size(), payoffs);
  dataset.items = std::move(items);
  return {dataset.items.size(), counts.column_count(), words};
}

}  // namespace

void set_contexts_from_tags(Dataset& dataset, std::span<const std::string> tags, std::span<const Entry> assignments,
                            std::size_t minimum_count, const ContextOptions& options) {
  const WordCounts words =
      count_words(dataset.items.size(), tags, assignments,
                  {.split = options.split_tags, .lower_case = options.lower_case, .minimum_count = minimum_count});
  Summary& summary = dataset.summary;
  summary.words_in_all = words.words_in_all;
  summary.words = words.words.size();
  std::vector<bool> tagged(dataset.items.size(), false);
  for (const Entry& assignment : assignments) tagged[assignment.row] = true;
  const auto fans = dataset.payoffs.column_sizes();
  for (std::size_t item = 0; item < tagged.size(); ++item) {
    if (tagged[item]) continue;
    ++summary.items_without_tags;
    summary.payoffs_without_tags += fans[item];
  }
  dataset.contexts =
      make_contexts(options.keep_untagged ? words.counts : without_untagged(dataset, words.counts), options);
}

void summarize_graph_and_payoffs(Dataset& dataset) {
  Summary& summary = dataset.summary;
  const Graph& graph = dataset.graph;
  summary.users = graph.node_count();
  summary.edges = graph.edge_count();
  summary.items = dataset.items.size();
  summary.payoffs = dataset.payoffs.size();
  const Components components = graph.components();
  summary.components = components.count();
  for (std::size_t k = 0; k < components.count(); ++k) {
    summary.largest_component = std::max(summary.largest_component, components.nodes(k).size());
  }
  for (std::size_t user = 0; user < graph.node_count(); ++user) {
    summary.users_without_friends += graph.neighbours(user).empty() ? 1 : 0;
    summary.users_without_payoffs += dataset.payoffs.columns(user).empty() ? 1 : 0;
  }
}

}  // namespace goblin::data
