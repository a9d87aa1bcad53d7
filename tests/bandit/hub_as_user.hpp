#pragma once

#include "goblin/bandit/bandit.hpp"

#include <vector>

namespace goblin {

/// gob.lin.hub written down as gob.lin: the hub is one more user, the first one, who never comes. Made from the users'
/// graph, not from what the library makes of it.
struct HubAsUser {
  HubAsUser(const Graph& users, const BanditOptions& of_hub) : options(of_hub) {
    std::vector<Edge> edges;
    for (NodeId user = 0; user < users.node_count(); ++user) edges.push_back({0, node_of(user), of_hub.hub.weight});
    if (of_hub.coupling > 0.0) {
      for (const Edge& edge : users.edges()) {
        edges.push_back({node_of(edge.a), node_of(edge.b), of_hub.coupling * edge.weight});
      }
    }
    graph = Graph(users.node_count() + 1, edges);
    options.coupling = 1.0;
    options.node_ridges = {of_hub.hub.ridge};
    for (std::size_t user = 0; user < users.node_count(); ++user) {
      options.node_ridges.push_back(user < of_hub.node_ridges.size()
                                        ? of_hub.node_ridges[user]
                                        : of_hub.ridge.value_or(info_of(Policy::gob_lin_hub).usual_ridge));
    }
  }

  [[nodiscard]] static NodeId node_of(NodeId user) { return user + 1; }

  Graph graph;
  BanditOptions options;
};

}  // namespace goblin
