#include "arguments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/graph/generators.hpp"

#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace goblin::python {
namespace {

Graph graph_from(std::size_t users, const Array<std::int64_t>& ends, const Array<double>& weights) {
  ends.expect(ends.dimensions() == 2 && ends.size(1) == 2, "(edges, 2)");
  const std::size_t count = ends.size(0);
  weights.expect(weights.dimensions() == 1 && weights.size(0) == count, "(" + std::to_string(count) + ",)");
  std::vector<Edge> edges;
  edges.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    edges.push_back(
        {static_cast<NodeId>(ends.all()[2 * k]), static_cast<NodeId>(ends.all()[2 * k + 1]), weights.all()[k]});
  }
  return {users, edges};
}

nb::tuple edges_of(const Graph& graph) {
  std::vector<std::int64_t> ends;
  std::vector<double> weights;
  for (const Edge& edge : graph.edges()) {
    ends.push_back(edge.a);
    ends.push_back(edge.b);
    weights.push_back(edge.weight);
  }
  const std::size_t count = weights.size();
  return nb::make_tuple(array_of(std::move(ends), {count, 2}), array_of(std::move(weights)));
}

/// How many clusters are wanted. The library has names of its own for them; the caller's is `argument`.
std::size_t count_of(nb::handle clusters, const std::string& argument, cluster::Method method, std::size_t users) {
  const std::size_t count = whole_argument(clusters, argument.c_str());
  if (method == cluster::Method::components) {
    if (count == 0) return count;
    throw std::invalid_argument(argument + ": " + shown(clusters) +
                                " (must be 0 for the method components, which finds the number itself)");
  }
  if (count >= 1 && count <= users) return count;
  throw std::invalid_argument(argument + ": " + shown(clusters) + " (must be between 1 and the number of users, " +
                              std::to_string(users) + ")");
}

nb::dict partition(const PythonGraph& graph, nb::handle clusters, const std::string& argument, nb::handle method,
                   nb::handle max_size, nb::handle imbalance, nb::handle seed) {
  const cluster::Method wanted = cluster::method_of(text_argument(method, "method"));
  const cluster::Options options{.method = wanted,
                                 .clusters = count_of(clusters, argument, wanted, graph.users.size()),
                                 .cluster_size = 0,
                                 .max_size = whole_argument(max_size, "max_size"),
                                 .imbalance = number_argument(imbalance, "imbalance"),
                                 .seed = whole_argument(seed, "seed")};
  cluster::Clustering clustering;
  {
    const nb::gil_scoped_release released;
    clustering = cluster::partition(graph.graph, options);
  }
  const cluster::Summary& summary = clustering.summary;
  nb::dict result;
  result["labels"] = column_of<std::int64_t>(clustering.labels, [](NodeId label) { return label; });
  result["sizes"] = column_of<std::int64_t>(summary.size_of, [](std::size_t size) { return size; });
  result["normalized_cut"] = summary.normalized_cut;
  result["mean_normalized_cut"] = summary.mean_normalized_cut;
  result["inside"] = summary.inside;
  return result;
}

nb::tuple communities(nb::handle users, nb::handle communities, nb::handle average_degree, nb::handle mixing,
                      nb::handle exponent, nb::handle seed) {
  const auto made = generate::communities({.nodes = whole_argument(users, "users"),
                                           .communities = whole_argument(communities, "communities"),
                                           .average_degree = number_argument(average_degree, "average_degree"),
                                           .mixing = number_argument(mixing, "mixing"),
                                           .exponent = number_argument(exponent, "exponent"),
                                           .seed = whole_argument(seed, "seed")});
  return nb::make_tuple(PythonGraph{made.graph, PythonNames(made.graph.node_count())},
                        column_of<std::int64_t>(made.community_of, [](NodeId community) { return community; }));
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<PythonGraph>(module, "Graph", "Users and who is a friend of whom; made by goblin.Graph.")
      .def(
          "__init__",
          [](PythonGraph* self, nb::handle users, nb::handle ends, nb::handle weights) {
            const PythonNames names(users, "user");
            Graph graph =
                graph_from(names.size(), Array<std::int64_t>(ends, "ends"), Array<double>(weights, "weights"));
            new (self) PythonGraph{std::move(graph), names};
          },
          nb::arg("users"), nb::arg("ends"), nb::arg("weights"),
          nb::sig("def __init__(self, users: collections.abc.Iterable[collections.abc.Hashable], "
                  "ends: numpy.typing.ArrayLike, weights: numpy.typing.ArrayLike) -> None"))
      .def(
          "__len__", [](const PythonGraph& self) { return self.users.size(); }, "The number of users.")
      .def_prop_ro(
          "users", [](const PythonGraph& self) { return self.users.list(); },
          nb::sig("def users(self) -> list[typing.Any]"), "The users' names in the order of their indices.")
      .def_prop_ro(
          "edge_count", [](const PythonGraph& self) { return self.graph.edge_count(); },
          "The number of edges, each counted once.")
      .def(
          "edges", [](const PythonGraph& self) { return edges_of(self.graph); },
          nb::sig("def edges(self) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]"),
          "Every edge once: the indices of its ends, shape (edges, 2), and its weight, shape (edges,).");

  module.def(
      "partition", &partition, nb::arg("graph"), nb::arg("clusters").none(), nb::arg("argument"),
      nb::arg("method").none(), nb::arg("max_size").none(), nb::arg("imbalance").none(), nb::arg("seed").none(),
      nb::sig("def partition(graph: Graph, clusters: int, argument: str, method: str, max_size: int, imbalance: float, "
              "seed: int) -> dict[str, typing.Any]"),
      "Clusters the users of a graph.");
  module.def("communities", &communities, nb::arg("users").none(), nb::arg("communities").none(),
             nb::arg("average_degree").none(), nb::arg("mixing").none(), nb::arg("exponent").none(),
             nb::arg("seed").none(),
             nb::sig("def communities(users: int, communities: int, average_degree: float, mixing: float, "
                     "exponent: float, seed: int) -> tuple[Graph, numpy.typing.NDArray[numpy.int64]]"),
             "A social network with communities, and each user's community.");
  module.def("numbered_names", &numbered_names, nb::arg("names"), nb::arg("per_row"), nb::arg("argument"),
             nb::arg("known") = nb::tuple(),
             nb::sig("def numbered_names(names: collections.abc.Iterable[typing.Any], per_row: int, argument: str, "
                     "known: collections.abc.Iterable[typing.Any] = ()) -> "
                     "tuple[list[typing.Any], numpy.typing.NDArray[numpy.int64]]"),
             "The distinct names, known ones first, in the order in which they appear, and the index of each.");
  module.def("name_texts", &name_texts, nb::arg("names"),
             nb::sig("def name_texts(names: collections.abc.Iterable[typing.Any]) -> list[bytes]"),
             "The names as files have them.");
}

}  // namespace goblin::python
