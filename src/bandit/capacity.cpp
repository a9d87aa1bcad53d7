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

std::size_t bandit_bytes(Policy policy, const Graph& users, const Graph& nodes, EngineKind kind,
                         const BanditOptions& options) {
  constexpr std::size_t bookkeeping = 80;  // a node's place in a component and the component itself
  const std::size_t dimension = options.dimension;
  std::size_t total = users.bytes() + bookkeeping * nodes.node_count();
  if (keeps_user_evidence(policy, options)) {
    total = saturating_add(total, Evidence::bytes(dimension, users.node_count()));
  }
  const Components components = nodes.components();
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    if (choose_engine(kind, members.size(), dimension) != EngineKind::local) {
      total = saturating_add(total, Evidence::bytes(dimension, members.size()));
    }
    std::size_t entries = 0;
    for (const NodeId node : members) entries += nodes.neighbours(node).size();
    total = saturating_add(total, engine_factory().bytes(kind, members.size(), entries / 2, dimension));
  }
  return total;
}

void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options) {
  const std::size_t available = available_bytes(options.engine);
  if (needed <= available) return;

  std::vector<std::string> fitting;
  const auto consider = [&](Policy other, EngineKind kind, bool evidence_per_node) {
    BanditOptions changed = options;
    changed.evidence_per_node = evidence_per_node;
    const std::string name =
        fmt::format("{}{}", other == policy ? fmt::format("the engine {}", name_of(kind)) : std::string(name_of(other)),
                    evidence_per_node ? " with evidence_per_node" : "");
    const Graph nodes = node_graph(other, users, uses_clusters(other) ? clusters : std::span<const NodeId>{});
    const std::size_t bytes = bandit_bytes(other, users, nodes, kind, changed);
    if (bytes <= available) fitting.push_back(fmt::format("{} ({})", name, readable_bytes(bytes)));
  };
  for (const EngineKind kind : {EngineKind::sparse, EngineKind::local}) {
    if (options.engine.kind != kind) consider(policy, kind, options.evidence_per_node);
  }
  if (keeps_user_evidence(policy, options)) consider(policy, options.engine.kind, true);
  if (policy != Policy::linucb_ind) consider(Policy::linucb_ind, EngineKind::automatic, false);
  if (policy != Policy::linucb_sin) consider(Policy::linucb_sin, EngineKind::automatic, true);
  throw CapacityError(
      fmt::format("{} of dimension {} with engine {} needs {}, more than the {} there are; {}", name_of(policy),
                  options.dimension, name_of(options.engine.kind), readable_bytes(needed), readable_bytes(available),
                  fitting.empty() ? "nothing fits: take a smaller dimension"
                                  : fmt::format("what would fit: {}", fmt::join(fitting, ", "))),
      needed, available);
}

}  // namespace goblin
