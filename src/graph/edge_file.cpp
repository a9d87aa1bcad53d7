#include "goblin/graph/edge_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

/// A line of the file: a pair of users, low < high, and whether it goes back from the higher to the lower.
struct Line {
  NodeId low;
  NodeId high;
  bool back;
  double weight;
};

/// Each pair of users once. The lines of one direction add up, in the order of their weights; of the two directions the
/// larger weight counts.
struct Pairs {
  explicit Pairs(const EdgeList& edges) {
    std::vector<Line> lines;
    lines.reserve(edges.size());
    edges.for_each([&](const Edge& edge) {
      lines.push_back({std::min(edge.a, edge.b), std::max(edge.a, edge.b), edge.a > edge.b, edge.weight});
    });
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      return std::tie(a.low, a.high, a.back, a.weight) < std::tie(b.low, b.high, b.back, b.weight);
    });
    for (std::size_t k = 0; k < lines.size();) {
      const Line& first = lines[k];
      double ahead = 0.0;
      double back = 0.0;
      for (; k < lines.size() && lines[k].low == first.low && lines[k].high == first.high; ++k) {
        (lines[k].back ? back : ahead) += lines[k].weight;
      }
      if (ahead > 0.0 && back > 0.0 && in_both_directions++ == 0) example = once.size();
      once.push_back({first.low, first.high, std::max(ahead, back)});
    }
  }

  std::vector<Edge> once;
  std::size_t in_both_directions = 0;
  std::size_t example = 0;  // of these, the first
};

}  // namespace

Graph read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options) {
  std::ifstream in = open_file(path);
  return read_edges(in, path.string(), options);
}

Graph read_edges(std::istream& in, const std::string& name, const EdgeFileOptions& options) {
  TabReader reader(in, name);
  Names names;
  EdgeList edges;
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() < 2 || fields.size() > 3) {
      reader.fail(fmt::format("{} field{} (expected: user <tab> user [<tab> weight])", fields.size(),
                              fields.size() == 1 ? "" : "s"));
    }
    if (fields[0].empty() || fields[1].empty()) reader.fail("an empty user name");
    const bool self_loop = fields[0] == fields[1];
    if (self_loop && !options.drop_self_loops) {
      reader.fail(
          fmt::format("'{}' is joined to itself (a self loop; drop-self-loops leaves such lines out)", fields[0]));
    }
    const double weight = fields.size() == 3 ? reader.number(2) : 1.0;
    if (!(std::isfinite(weight) && weight > 0.0)) {
      reader.fail(fmt::format("weight {} (must be finite and positive)", fields[2]));
    }
    const NodeId a = names.insert(fields[0]);
    if (!self_loop) edges.add({a, names.insert(fields[1]), weight});
  }
  try {
    Graph graph(std::move(names), edges);
    if (graph.edge_count() == edges.size()) return graph;  // no pair is listed again
    const Pairs pairs(edges);
    if (pairs.in_both_directions == 0) return graph;
    if (options.warn) {
      const bool one = pairs.in_both_directions == 1;
      options.warn(fmt::format(
          "{}: {} of users {} listed in both directions ('{}' and '{}'{}): both are one edge, with the larger weight "
          "of the two",
          name, one ? "a pair" : fmt::format("{} pairs", pairs.in_both_directions), one ? "is" : "are",
          graph.names()[pairs.once[pairs.example].a], graph.names()[pairs.once[pairs.example].b], one ? "" : ", ..."));
    }
    return {graph.names(), pairs.once};
  } catch (const std::invalid_argument& error) {
    throw DataError(name, 0, error.what());
  }
}

void write_edges(std::ostream& out, const Graph& graph) {
  if (graph.has_names()) {
    for (NodeId node = 0; node < graph.node_count(); ++node) {
      if (!graph.neighbours(node).empty()) static_cast<void>(tab_line_start(graph.names()[node]));
    }
  }
  for (const Edge& edge : graph.edges()) {
    if (graph.has_names()) {
      out << fmt::format("{}\t{}\t{}\n", tab_line_start(graph.names()[edge.a]), graph.names()[edge.b], edge.weight);
    } else {
      out << fmt::format("{}\t{}\t{}\n", edge.a, edge.b, edge.weight);
    }
  }
}

}  // namespace goblin
