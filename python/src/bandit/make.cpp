#include "bandit/calls.hpp"

#include <array>
#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

std::vector<NodeId> labels_of(nb::handle clusters) {
  std::vector<NodeId> labels;
  if (clusters.is_none()) return labels;
  const Array<std::int64_t> numbers(clusters, "clusters");
  numbers.expect(numbers.dimensions() == 1, "one-dimensional");
  for (const std::int64_t label : numbers.all()) {
    labels.push_back(static_cast<NodeId>(whole_argument(nb::int_(label), "clusters")));
  }
  return labels;
}

PrintedBound printed_bound_of(nb::handle given) {
  if (PySequence_Check(given.ptr()) == 0 || nb::len(given) != 3) {
    throw std::invalid_argument("printed_bound: " + shown(given) + " (must be three numbers: noise, delta, norm)");
  }
  return {.noise = number_argument(nb::object(given[0]), "printed_bound[0]"),
          .delta = number_argument(nb::object(given[1]), "printed_bound[1]"),
          .norm = number_argument(nb::object(given[2]), "printed_bound[2]")};
}

/// One number for all nodes, or one for each.
void set_ridge(BanditOptions& options, nb::handle given) {
  const bool is_list = PyUnicode_Check(given.ptr()) == 0 && PyObject_Size(given.ptr()) >= 0;
  PyErr_Clear();  // of what has no size
  if (!is_list) {
    options.ridge = number_argument(given, "ridge");
    return;
  }
  const Array<double> ridges(given, "ridge");
  ridges.expect(ridges.dimensions() == 1 && ridges.size(0) > 0, "one number, or one for each node");
  options.node_ridges.assign(ridges.all().begin(), ridges.all().end());
}

/// What one policy has that the others have not.
void set_policy_option(BanditOptions& options, const std::string& name, nb::handle value) {
  if (name == "laplacian") options.laplacian = laplacian_named(text_argument(value, "laplacian"));
  if (name == "hub") options.hub.weight = number_argument(value, "hub");
  if (name == "hub_ridge") options.hub.ridge = number_argument(value, "hub_ridge");
  if (name == "buckets") options.hash.buckets = whole_argument(value, "buckets", 1);
  if (name == "hash_seed") options.hash.seed = whole_argument(value, "hash_seed");
  if (name == "club_graph") options.club.graph = club_graph_named(text_argument(value, "graph"));
  if (name == "separation") options.club.separation = number_argument(value, "separation");
  if (name == "club_seed") options.club.seed = whole_argument(value, "seed");
  if (name == "dynucb_clusters") options.dynucb.clusters = whole_argument(value, "clusters", 1);
  if (name == "dynucb_seed") options.dynucb.seed = whole_argument(value, "seed");
  if (name == "window") options.forgetting.window = whole_argument(value, "window");
  if (name == "discount") options.forgetting.discount = number_argument(value, "discount");
}

}  // namespace

BanditOptions options_of(const nb::dict& given) {
  BanditOptions options;
  options.engine.progress = hear_signals;
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    set_policy_option(options, name, value);
    if (name == "dimension") options.dimension = whole_argument(value, "dimension", 1);
    if (name == "intercept") options.intercept = bool_argument(value, "intercept");
    if (name == "alpha") options.alpha = number_argument(value, "alpha");
    if (name == "ridge") set_ridge(options, value);
    if (name == "evidence_per_node") options.evidence_per_node = bool_argument(value, "evidence_per_node");
    if (name == "coupling") options.coupling = number_argument(value, "coupling");
    if (name == "engine") options.engine.kind = engine_kind(text_argument(value, "engine"));
    if (name == "tolerance") options.engine.tolerance = number_argument(value, "tolerance");
    if (name == "local_tolerance") options.engine.local.tolerance = number_argument(value, "local_tolerance");
    if (name == "memory_limit") options.engine.memory_limit = whole_argument(value, "memory_limit");
    if (name == "threads") options.engine.threads = whole_argument(value, "threads");
    if (name == "exploration" && !value.is_none()) {
      options.exploration = exploration_named(text_argument(value, "exploration"));
    }
    if (name == "printed_bound" && !value.is_none()) {
      options.exploration = Exploration::printed_bound(printed_bound_of(value));
    }
  }
  return options;
}

namespace {

/// Club and DynUcb have shorter names for two options, which elsewhere stand beside those of all policies. A message
/// that begins with the long one gets the short one.
template <typename Work>
auto with_own_names(Work work) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> names = {
      {{"club_graph:", "graph:"}, {"dynucb_clusters:", "clusters:"}}};
  try {
    return work();
  } catch (const std::invalid_argument& error) {
    const std::string_view message = error.what();
    for (const auto& [name, own] : names) {
      if (message.starts_with(name)) {
        throw std::invalid_argument(std::string(own).append(message.substr(name.size())));
      }
    }
    throw;
  }
}

void make(PythonBandit* self, const std::string& policy, const PythonGraph& graph, nb::handle clusters,
          const nb::dict& options) {
  const auto labels = labels_of(clusters);
  const Policy kind = policy_named(policy);
  Bandit bandit = with_own_names([&] {
    const BanditOptions given = options_of(options);
    const nb::gil_scoped_release released;
    return Bandit::make(kind, graph.graph, labels, given);
  });
  new (self) PythonBandit(std::move(bandit), graph.users);
}

}  // namespace

void bind_making(BanditClass& bandit) {
  bandit.def("__init__", &make, nb::arg("policy"), nb::arg("graph"), nb::arg("clusters").none(), nb::arg("options"),
             nb::sig("def __init__(self, policy: str, graph: Graph, clusters: numpy.typing.ArrayLike | None, "
                     "options: collections.abc.Mapping[str, typing.Any]) -> None"));
}

}  // namespace goblin::python
