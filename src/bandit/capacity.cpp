#include "bandit/capacity.hpp"

#include "bandit/user_map.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "goblin/error.hpp"

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

std::size_t saturating_add(std::size_t a, std::size_t b) {
  return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
}

}  // namespace

std::size_t bandit_bytes(const Graph& users, const Graph& nodes, EngineKind kind, std::size_t dimension) {
  constexpr std::size_t bookkeeping = 80;  // a node's place in a component and the component itself
  std::size_t total = users.bytes() + bookkeeping * nodes.node_count();
  const Components components = nodes.components();
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    std::size_t entries = 0;
    for (const NodeId node : members) entries += nodes.neighbours(node).size();
    if (choose_engine(kind, members.size(), entries / 2, dimension) != EngineKind::local) {
      total = saturating_add(total, Evidence::bytes(dimension, members.size()));
    }
    total = saturating_add(total, engine_factory().bytes(kind, members.size(), entries / 2, dimension));
  }
  return total;
}

void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options) {
  const auto what_fits = [&](std::size_t available) {
    std::vector<std::string> fitting;
    const auto consider = [&](Policy other, EngineKind kind, const std::string& name) {
      const Graph nodes =
          node_graph(other, users, uses_clusters(other) ? clusters : std::span<const NodeId>{}, options);
      const std::size_t bytes = bandit_bytes(users, nodes, kind, options.dimension);
      if (bytes <= available) fitting.push_back(fmt::format("{} ({})", name, readable_bytes(bytes)));
    };
    for (const EngineKind kind : {EngineKind::sparse, EngineKind::local}) {
      if (options.engine.kind != kind) consider(policy, kind, fmt::format("the engine {}", name_of(kind)));
    }
    for (const Policy other : {Policy::linucb_ind, Policy::linucb_sin}) {
      if (other != policy) consider(other, EngineKind::automatic, std::string(name_of(other)));
    }
    return fitting.empty() ? std::string("nothing fits: take a smaller dimension")
                           : fmt::format("what would fit: {}", fmt::join(fitting, ", "));
  };
  check_memory(
      fmt::format("{} of dimension {} with engine {}", name_of(policy), options.dimension,
                  name_of(options.engine.kind)),
      static_cast<double>(needed), options.engine, [] { return std::size_t{0}; }, what_fits);
}

}  // namespace goblin
