#include "bandit/capacity.hpp"

#include "bandit/forgetting.hpp"
#include "bandit/node_priors.hpp"
#include "bandit/online_clusters.hpp"
#include "bandit/user_map.hpp"
#include "belief/byte_count.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "goblin/error.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

std::size_t saturating_add(std::size_t a, std::size_t b) {
  return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
}

}  // namespace

std::size_t bandit_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                         const BanditOptions& options) {
  const Graph nodes = node_graph(policy, users, clusters, options);
  const std::size_t dimension = node_dimension(policy, options);
  const bool twice = has_node_per_user(policy) && keeps_user_evidence(policy, options);
  constexpr std::size_t bookkeeping = 80;  // a node's place in a component and the component itself
  std::size_t total = users.bytes() + bookkeeping * nodes.node_count();
  total = saturating_add(total, byte_count(RewardWindow::bytes(options.weight_count(), options.forgetting.window)));
  const double coupling = node_coupling(policy, options);
  std::optional<std::vector<double>> ridges;  // once somebody asks
  const Components components = nodes.components();
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    std::size_t entries = 0;
    for (const NodeId node : members) entries += nodes.neighbours(node).size();
    const auto pull = [&] {
      if (!ridges) {
        ridges = options.laplacian == Laplacian::normalized ? normalized_ridges(options, nodes)
                                                            : node_ridges(policy, users.node_count(), options);
      }
      Pull its_pull;
      for (const NodeId node : members) {
        its_pull.add(coupling * nodes.degree(node), node < ridges->size() ? (*ridges)[node] : *options.ridge);
      }
      return its_pull.value();
    };
    const EngineKind kind =
        choose_engine(options.engine.kind, {.nodes = members.size(), .edges = entries / 2, .pull = pull}, dimension);
    if (kind != EngineKind::local) {
      const TakenFrom taken = taken_from(policy, options);
      total = saturating_add(total, Evidence::bytes(dimension, members.size(), taken.nodes));
      if (twice) total = saturating_add(total, Evidence::bytes(dimension, members.size(), taken.users));
    }
    total = saturating_add(total, engine_factory().bytes(kind, members.size(), entries / 2, dimension));
  }
  return saturating_add(total, byte_count(online_clusters_bytes(policy, users, options)));
}

void check_fits(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
  const auto what_fits = [&](std::size_t available) {
    std::vector<std::string> fitting;
    const auto consider = [&](Policy other, EngineKind kind, const std::string& name) {
      BanditOptions changed = options;
      changed.engine.kind = kind;
      const std::size_t bytes =
          bandit_bytes(other, users, uses_clusters(other) ? clusters : std::span<const NodeId>{}, changed);
      if (bytes <= available) fitting.push_back(fmt::format("{} ({})", name, readable_bytes(bytes)));
    };
    if (policy == Policy::linucb_hash) {
      const auto bytes = [&](std::size_t buckets) {
        BanditOptions fewer = options;
        fewer.hash.buckets = buckets;
        return static_cast<double>(bandit_bytes(policy, users, clusters, fewer));
      };
      const std::size_t most = most_that_fit(options.hash.buckets, available, bytes);
      if (most > 0) fitting.push_back(fmt::format("{} buckets", most));
    }
    for (const EngineKind kind : {EngineKind::sparse, EngineKind::local}) {
      if (options.engine.kind != kind) consider(policy, kind, fmt::format("the engine {}", name_of(kind)));
    }
    for (const Policy other : {Policy::linucb_ind, Policy::linucb_sin}) {
      if (other != policy) consider(other, EngineKind::automatic, std::string(name_of(other)));
    }
    const std::size_t window = byte_count(RewardWindow::bytes(options.weight_count(), options.forgetting.window));
    if (fitting.empty() && window > available / 2) {
      return fmt::format("nothing fits: take a smaller window, which takes {}", readable_bytes(window));
    }
    return fitting.empty() ? std::string("nothing fits: take a smaller dimension")
                           : fmt::format("what would fit: {}", fmt::join(fitting, ", "));
  };
  check_memory(
      fmt::format("{} of dimension {}{} with engine {}", name_of(policy), options.dimension,
                  policy == Policy::linucb_hash ? fmt::format(" and {} buckets", options.hash.buckets) : "",
                  name_of(options.engine.kind)),
      static_cast<double>(bandit_bytes(policy, users, clusters, options)), options.engine,
      [] { return std::size_t{0}; }, what_fits);
}

}  // namespace goblin
