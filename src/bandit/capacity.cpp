#include "bandit/capacity.hpp"

#include "goblin/error.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

std::string readable(std::size_t bytes) {
  static constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < std::size(units)) {
    value /= 1000.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {} ({} bytes)", value, units[unit], bytes);
}

/// What this process can still take: the free memory of the machine, or of its control group if that is less.
std::size_t free_memory() {
  std::size_t available = std::numeric_limits<std::size_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    if (word != "MemAvailable:") continue;
    std::size_t kibibytes = 0;
    if (meminfo >> kibibytes) available = kibibytes * 1024;
    break;
  }
  if (available == std::numeric_limits<std::size_t>::max()) {
    available = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  const auto number_in = [](const char* file, std::size_t& value) { return bool(std::ifstream(file) >> value); };
  std::size_t limit = 0;
  std::size_t used = 0;
  if (number_in("/sys/fs/cgroup/memory.max", limit) && number_in("/sys/fs/cgroup/memory.current", used)) {
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

std::size_t limit_of(const BanditOptions& options) {
  return options.engine.memory_limit > 0 ? options.engine.memory_limit : free_memory();
}

std::size_t saturating_add(std::size_t a, std::size_t b) {
  return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
}

}  // namespace

Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters) {
  switch (policy) {
    case Policy::linucb_sin:
      return users.single();
    case Policy::linucb_ind:
      return users.edgeless();
    case Policy::gob_lin:
      return users;
    case Policy::gob_lin_macro:
      return users.quotient(clusters);
    case Policy::gob_lin_block:
      return users.within(clusters);
  }
  return {};
}

std::size_t bandit_bytes(const Graph& users, const Graph& nodes, const Components& components, EngineKind kind,
                         std::size_t dimension) {
  constexpr std::size_t bookkeeping = 80;  // a node's place in a component and the component itself
  std::size_t total = users.bytes() + bookkeeping * nodes.node_count();
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    if (choose_engine(kind, members.size(), dimension) != EngineKind::local) {
      total = saturating_add(total, Evidence::bytes(dimension, members.size()));
    }
    std::size_t entries = 0;
    for (const NodeId node : members) entries += nodes.neighbours(node).size();
    total = saturating_add(total, engine_bytes(kind, members.size(), entries / 2, dimension));
  }
  return total;
}

void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options) {
  const std::size_t available = limit_of(options);
  if (needed <= available) return;

  std::vector<std::string> fitting;
  const auto consider = [&](Policy other, EngineKind kind, const std::string& name) {
    const Graph nodes = node_graph(other, users, uses_clusters(other) ? clusters : std::span<const NodeId>{});
    const std::size_t bytes = bandit_bytes(users, nodes, nodes.components(), kind, options.dimension);
    if (bytes <= available) fitting.push_back(fmt::format("{} ({})", name, readable(bytes)));
  };
  for (const EngineKind kind : {EngineKind::sparse, EngineKind::local}) {
    if (options.engine.kind != kind) consider(policy, kind, fmt::format("the engine {}", name_of(kind)));
  }
  for (const Policy other : {Policy::linucb_ind, Policy::linucb_sin}) {
    if (other != policy) consider(other, EngineKind::automatic, std::string(name_of(other)));
  }
  throw CapacityError(
      fmt::format("{} of dimension {} with engine {} needs {}, more than the {} there are; {}", name_of(policy),
                  options.dimension, name_of(options.engine.kind), readable(needed), readable(available),
                  fitting.empty() ? "nothing fits: take a smaller dimension"
                                  : fmt::format("what would fit: {}", fmt::join(fitting, ", "))),
      needed, available);
}

void check_join_fits(const BanditOptions& options, std::size_t nodes, std::size_t edges) {
  const std::size_t needed = engine_bytes(options.engine.kind, nodes, edges, options.dimension);
  const std::size_t available = limit_of(options);
  if (needed <= available) return;
  throw CapacityError(fmt::format("joining two components into one of {} nodes with engine {} needs {}, more than the "
                                  "{} there are; the engine sparse needs {}",
                                  nodes, name_of(options.engine.kind), readable(needed), readable(available),
                                  readable(engine_bytes(EngineKind::sparse, nodes, edges, options.dimension))),
                      needed, available);
}

}  // namespace goblin
