#include "data/prepare.hpp"

#include <algorithm>

namespace goblin::data {

void set_contexts_from_tags(Dataset& dataset, std::span<const std::string> tags, std::span<const Entry> assignments,
                            std::size_t minimum_count, const ContextOptions& options) {
  const WordCounts words =
      count_words(dataset.items.size(), tags, assignments,
                  {.split = options.split_tags, .lower_case = options.lower_case, .minimum_count = minimum_count});
  dataset.contexts = make_contexts(words.counts, options);

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
