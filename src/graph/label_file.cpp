#include "goblin/graph/label_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <fstream>

#include <fmt/format.h>

namespace goblin {

std::pair<Graph, Labels> read_label_file(const std::filesystem::path& path, const Graph& graph) {
  std::ifstream in = open_file(path);
  return read_labels(in, path.string(), graph);
}

std::pair<Graph, Labels> read_labels(std::istream& in, const std::string& name, const Graph& graph) {
  constexpr NodeId none = static_cast<NodeId>(-1);
  Names users = graph.names();
  Labels labels{.of = std::vector<NodeId>(graph.node_count(), none), .clusters = {}};
  TabReader reader(in, name);
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty()) {
      reader.fail("a line of another form (expected: user <tab> cluster)");
    }
    const NodeId user = users.insert(fields[0]);
    const NodeId cluster = labels.clusters.insert(fields[1]);
    if (user == labels.of.size()) labels.of.push_back(none);
    if (labels.of[user] != none && labels.of[user] != cluster) {
      reader.fail(fmt::format("'{}' is in cluster '{}' and in cluster '{}'", fields[0],
                              labels.clusters[labels.of[user]], fields[1]));
    }
    labels.of[user] = cluster;
  }
  for (NodeId user = 0; user < labels.of.size(); ++user) {
    if (labels.of[user] == none) throw DataError(name, 0, fmt::format("user '{}' has no cluster", users[user]));
  }
  if (users.size() == graph.node_count()) return {graph, std::move(labels)};
  return {Graph(std::move(users), graph.edges()), std::move(labels)};
}

void write_labels(std::ostream& out, const Graph& graph, std::span<const NodeId> labels) {
  for (NodeId node = 0; node < labels.size(); ++node) out << graph.names()[node] << '\t' << labels[node] << '\n';
}

}  // namespace goblin
