#include "goblin/graph/label_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace goblin {
namespace {

/// The user of a graph without names; throws DataError if there is none.
NodeId numbered_user(const TabReader& reader, std::size_t count) {
  const std::string_view text = reader.fields()[0];
  const auto number = number_named(text);
  if (!number || *number >= count) {
    reader.fail(
        fmt::format("user '{}' (must be a whole number below {}: the users of the graph have no names)", text, count));
  }
  return static_cast<NodeId>(*number);
}

}  // namespace

std::pair<Graph, Labels> read_label_file(const std::filesystem::path& path, const Graph& graph) {
  std::ifstream in = open_file(path);
  return read_labels(in, path.string(), graph);
}

std::pair<Graph, Labels> read_labels(std::istream& in, const std::string& name, const Graph& graph) {
  constexpr NodeId none = static_cast<NodeId>(-1);
  const bool numbered = graph.node_count() > 0 && !graph.has_names();
  Names users = graph.names();
  Labels labels{.of = std::vector<NodeId>(graph.node_count(), none), .clusters = {}};
  TabReader reader(in, name);
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty()) {
      reader.fail("a line of another form (expected: user <tab> cluster)");
    }
    const NodeId user = numbered ? numbered_user(reader, graph.node_count()) : users.insert(fields[0]);
    const NodeId cluster = labels.clusters.insert(fields[1]);
    if (user == labels.of.size()) labels.of.push_back(none);
    if (labels.of[user] != none && labels.of[user] != cluster) {
      reader.fail(fmt::format("'{}' is in cluster '{}' and in cluster '{}'", fields[0],
                              labels.clusters[labels.of[user]], fields[1]));
    }
    labels.of[user] = cluster;
  }
  for (NodeId user = 0; user < labels.of.size(); ++user) {
    if (labels.of[user] != none) continue;
    const std::string shown = numbered ? std::to_string(user) : std::string(users[user]);
    throw DataError(name, 0, fmt::format("user '{}' has no cluster", shown));
  }
  if (labels.of.size() == graph.node_count()) return {graph, std::move(labels)};
  return {Graph(std::move(users), graph.edges()), std::move(labels)};
}

void write_labels(std::ostream& out, const Graph& graph, std::span<const NodeId> labels) {
  if (labels.size() != graph.node_count()) {
    throw std::invalid_argument(
        fmt::format("labels: {} of them (must be one for each of the {} nodes)", labels.size(), graph.node_count()));
  }
  std::vector<std::string> starts;
  starts.reserve(labels.size());
  for (NodeId node = 0; node < labels.size(); ++node) {
    starts.push_back(graph.has_names() ? tab_line_start(graph.names()[node]) : std::to_string(node));
  }
  for (NodeId node = 0; node < labels.size(); ++node) out << starts[node] << '\t' << labels[node] << '\n';
}

}  // namespace goblin
