#include "bandit/calls.hpp"

#include <algorithm>
#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

nb::object mean(const PythonBandit& self, nb::handle user) {
  const NodeId index = self.users.find(user);
  return array_of(asked(self, [&](const SharedBandit& it) { return it.mean(index); }));
}

nb::object covariance(const PythonBandit& self, nb::handle user) {
  const NodeId index = self.users.find(user);
  const std::size_t count = self.weight_count();
  return array_of(asked(self, [&](const SharedBandit& it) { return it.covariance(index); }), {count, count});
}

nb::object evidence(const PythonBandit& self, nb::handle user) {
  const NodeId index = self.users.find(user);
  const std::size_t count = self.weight_count();
  std::vector<double> contexts(count * count, 0.0);
  EvidenceCopy seen = asked(self, [&](const SharedBandit& it) { return it.evidence(index); });
  seen.rewards.resize(count, 0.0);      // it is empty where there are none
  auto packed = seen.contexts.begin();  // the lower triangle, column by column
  for (std::size_t column = 0; column < count && packed != seen.contexts.end(); ++column) {
    for (std::size_t row = column; row < count; ++row, ++packed) {
      contexts[row * count + column] = contexts[column * count + row] = *packed;
    }
  }
  return nb::module_::import_("goblin._types")
      .attr("Evidence")(array_of(std::move(contexts), {count, count}), array_of(std::move(seen.rewards)), seen.count,
                        seen.squared_rewards);
}

/// A number, or an array where the nodes have ridges of their own.
nb::object ridge(const PythonBandit& self) {
  const auto [one, of_nodes] = asked(self, [](const SharedBandit& it) {
    BanditOptions options = it.options();
    auto& ridges = options.node_ridges;
    // Nodes that came later have the one ridge; the hub, which nobody is, is not among them.
    if (!ridges.empty()) ridges.resize(it.node_count() - (has_hub(it.policy()) ? 1 : 0), *options.ridge);
    if (!ridges.empty() && has_node_per_user(it.policy())) {  // nor are those of users who were removed
      std::size_t user = 0;
      std::erase_if(ridges, [&](double) { return !it.has_user(user++); });
    }
    return std::pair(*options.ridge, std::move(ridges));
  });
  return of_nodes.empty() ? nb::cast(one) : array_of(of_nodes);
}

/// The labels of the users, where the policy's clusters are given. The mutex is held so that nobody goes meanwhile.
nb::object clusters_of(const PythonBandit& self) {
  std::vector<std::int64_t> labels;
  auto lock = lock_with_gil(self.users_mutex);
  asked(self, [&](const SharedBandit& it) {
    const std::size_t users = it.user_count();
    for (std::size_t user = 0; user < users; ++user) {
      if (it.has_user(user)) labels.push_back(it.cluster(user).value_or(0));
    }
  });
  lock.unlock();
  return array_of(std::move(labels));
}

nb::dict options(const PythonBandit& self) {
  const auto [policy, options] =
      asked(self, [](const SharedBandit& it) { return std::pair(it.policy(), it.options()); });
  nb::dict result = dict_of(policy, options);
  result["ridge"] = ridge(self);
  if (uses_clusters(policy)) result["clusters"] = clusters_of(self);
  return result;
}

std::optional<NodeId> cluster(const PythonBandit& self, nb::handle user) {
  const NodeId index = self.users.find(user);
  return asked(self, [&](const SharedBandit& it) { return it.cluster(index); });
}

/// The mutex is held over both, the graph and the users, so that they belong together.
PythonGraph graph(const PythonBandit& self) {
  const auto lock = lock_with_gil(self.users_mutex);
  Graph all = asked(self, [](const SharedBandit& it) { return it.graph(); });
  if (self.users.size() == self.users.index_count()) return {std::move(all), self.users};
  // Without the users who were removed, who have no edges.
  std::vector<NodeId> place(self.users.index_count(), 0);
  NodeId next = 0;
  for (std::size_t user = 0; user < place.size(); ++user) place[user] = self.users.has(user) ? next++ : 0;
  std::vector<Edge> edges;
  for (const Edge& edge : all.edges()) edges.push_back({place[edge.a], place[edge.b], edge.weight});
  return {Graph(self.users.size(), edges), PythonNames(self.users.list(), "user")};
}

constexpr const char* mean_doc = R"(``w_i``, what is believed of the user's vector: an array of shape (dimension,).

With ``intercept=True`` it has one number more, the last, and so have the evidence and the covariance.

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
>>> bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.mean("ann")
array([0.5, 0. ])
)";

constexpr const char* evidence_doc =
    R"(All that was learned from the user's own rewards: ``S``, ``c``, ``count`` and ``squared_rewards``.

``S`` is the sum of ``x x'``, ``c`` that of ``reward x``, ``count`` the number of rewards, ``squared_rewards`` the sum of
their squares. Everything that the bandit believes follows from these sums and the graph.

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob")], dimension=2)
>>> bandit.update("ann", [1.0, 2.0], 3.0)
>>> bandit.evidence("ann").S
array([[1., 2.],
       [2., 4.]])
>>> bandit.evidence("ann").c, bandit.evidence("ann").count, bandit.evidence("bob").count
(array([3., 6.]), 1, 0)
)";

constexpr const char* covariance_doc =
    R"(``C_i``, how uncertain the user's vector is: an array of shape (dimension, dimension).

The width of candidate x is ``alpha sqrt(x' C_i x ln(t + 1))``.

>>> import goblin
>>> bandit = goblin.LinUcbInd([("ann", "bob")], dimension=2)
>>> bandit.update("ann", [1.0, 0.0], 1.0)
>>> bandit.covariance("ann")
array([[0.5, 0. ],
       [0. , 1. ]])
)";

/// What one policy has that the others have not.
void add_own_options(nb::dict& result, Policy policy, const BanditOptions& options) {
  if (policy == Policy::gob_lin) result["laplacian"] = std::string(name_of(options.laplacian));
  if (has_hub(policy)) {
    result["hub"] = options.hub.weight;
    result["hub_ridge"] = options.hub.ridge;
  }
  if (policy == Policy::linucb_hash) {
    result["buckets"] = options.hash.buckets;
    result["hash_seed"] = options.hash.seed;
  }
  if (policy == Policy::club) {
    result["club_graph"] = std::string(name_of(options.club.graph));
    result["separation"] = options.club.separation;
    result["club_seed"] = options.club.seed;
  }
  if (policy == Policy::dynucb) {
    result["dynucb_clusters"] = options.dynucb.clusters;
    result["dynucb_seed"] = options.dynucb.seed;
  }
  if (info_of(policy).cannot_forget.empty()) {
    result["window"] = options.forgetting.window;
    result["discount"] = options.forgetting.discount;
  }
}

}  // namespace

nb::dict dict_of(Policy policy, const BanditOptions& options) {
  nb::dict result;
  result["dimension"] = options.dimension;
  result["intercept"] = options.intercept;
  result["exploration"] = name_of(options.exploration.value_or(Exploration::ucb(options.alpha)));
  result["ridge"] = options.ridge.value_or(info_of(policy).usual_ridge);
  result["coupling"] = options.coupling;
  add_own_options(result, policy, options);
  result["evidence_per_node"] = options.evidence_per_node;
  result["engine"] = std::string(name_of(options.engine.kind));
  result["tolerance"] = options.engine.tolerance;
  result["local_tolerance"] = options.engine.local.tolerance;
  result["memory_limit"] = options.engine.memory_limit;
  result["threads"] = options.engine.threads;
  return result;
}

nb::dict summary_of(const BanditSummary& summary) {
  nb::dict result;
  result["policy"] = std::string(name_of(summary.policy));
  result["engine"] = std::string(name_of(summary.asked_engine));
  result["users"] = summary.users;
  result["nodes"] = summary.nodes;
  result["clusters"] = summary.clusters;
  result["edges"] = summary.edges;
  result["rewards"] = summary.rewards;
  result["unconverged_solves"] = summary.unconverged_solves;
  result["bytes"] = summary.bytes;
  nb::list components;
  for (const ComponentSummary& component : summary.components) {
    nb::dict part;
    part["nodes"] = component.nodes;
    part["edges"] = component.edges;
    part["engine"] = std::string(name_of(component.engine));
    part["reason"] = std::string(component.reason);
    part["bytes"] = component.bytes;
    components.append(part);
  }
  result["components"] = components;
  return result;
}

void bind_inspecting(BanditClass& bandit) {
  bandit.def("mean", &mean, nb::arg("user").none(),
             nb::sig("def mean(self, user: collections.abc.Hashable) -> numpy.typing.NDArray[numpy.float64]"),
             mean_doc);
  bandit.def("covariance", &covariance, nb::arg("user").none(),
             nb::sig("def covariance(self, user: collections.abc.Hashable) -> numpy.typing.NDArray[numpy.float64]"),
             covariance_doc);
  bandit.def("evidence", &evidence, nb::arg("user").none(),
             nb::sig("def evidence(self, user: collections.abc.Hashable) -> goblin._types.Evidence"), evidence_doc);
  bandit.def("cluster", &cluster, nb::arg("user").none(),
             nb::sig("def cluster(self, user: collections.abc.Hashable) -> int | None"),
             "The user's cluster, where the policy has clusters.");
  bandit.def(
      "summary",
      [](const PythonBandit& self) {
        return summary_of(asked(self, [](const SharedBandit& it) { return it.summary(); }));
      },
      nb::sig("def summary(self) -> dict[str, typing.Any]"),
      "What was asked for and what is used: the engine of each connected component and why, the bytes.");
  bandit.def("_options", &options, nb::sig("def _options(self) -> dict[str, typing.Any]"));
  bandit.def(
      "__len__", [](const PythonBandit& self) { return self.users.size(); }, "The number of users.");
  bandit.def(
      "__contains__", [](const PythonBandit& self, nb::handle user) { return self.users.contains(user); },
      nb::arg("user").none(), nb::sig("def __contains__(self, user: object) -> bool"), "Whether it is a user.");
  bandit.def_prop_ro(
      "users", [](const PythonBandit& self) { return self.users.list(); },
      nb::sig("def users(self) -> list[typing.Any]"), "The users' names, in the order they came.");
  bandit.def_prop_ro("graph", &graph, "The users' graph as it is now.");
  bandit.def_prop_ro(
      "policy",
      [](const PythonBandit& self) {
        return std::string(name_of(asked(self, [](const SharedBandit& it) { return it.policy(); })));
      },
      "The policy's name, as everywhere in goblin.");
  bandit.def_ro("dimension", &PythonBandit::dimension, "How many numbers a context has.");
  bandit.def_ro("intercept", &PythonBandit::intercept,
                "Whether the bandit puts a 1 after the numbers of every context.");
  bandit.def_prop_ro(
      "ridge", &ridge, nb::sig("def ridge(self) -> float | numpy.typing.NDArray[numpy.float64]"),
      "How strongly vectors are drawn to zero: one number, or an array with one for each node if the bandit\n"
      "was made so. Fixed when the bandit is made; a node that comes later has the policy's usual ridge.");
  bandit.def_ro("coupling", &PythonBandit::coupling,
                "How strongly the vectors of friends are drawn to each other; fixed when the bandit is made.");
  bandit.def_prop_ro(
      "rewards",
      [](const PythonBandit& self) { return asked(self, [](const SharedBandit& it) { return it.rewards(); }); },
      "The number of rewards learned.");
  bandit.def_prop_ro(
      "log_determinant",
      [](const PythonBandit& self) { return asked(self, [](const SharedBandit& it) { return it.log_determinant(); }); },
      "``ln |M_t|`` of the paper's Theorem 1.");
}

}  // namespace goblin::python
