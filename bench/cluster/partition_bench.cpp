#include "goblin/cluster/partition.hpp"
#include "goblin/graph/generators.hpp"
#include "meters.hpp"

#include <benchmark/benchmark.h>

namespace goblin::cluster {
namespace {

/// Average degree 14 and communities of a hundred nodes; arguments: the nodes, the clusters.
void cluster_communities(benchmark::State& state, Method method) {
  const auto nodes = static_cast<std::size_t>(state.range(0));
  const auto clusters = static_cast<std::size_t>(state.range(1));
  const Graph graph = generate::communities({.nodes = nodes, .communities = nodes / 100}).graph;
  double cut = 0.0;
  while (state.KeepRunning()) {
    cut = partition(graph, {.method = method, .clusters = clusters}).summary.mean_normalized_cut;
  }
  state.counters["cut_per_cluster"] = cut;
  state.counters["edges"] = static_cast<double>(graph.edge_count());
  state.counters["peak_GB"] = bench::peak_bytes() / 1e9;
}

BENCHMARK_CAPTURE(cluster_communities, ncut, Method::ncut)
    ->Args({2'000, 100})
    ->Args({100'000, 1'000})
    ->Args({1'000'000, 10'000})
    ->ArgNames({"nodes", "clusters"})
    ->Unit(benchmark::kSecond);

BENCHMARK_CAPTURE(cluster_communities, metis, Method::metis)
    ->Args({2'000, 100})
    ->Args({100'000, 1'000})
    ->Args({1'000'000, 10'000})
    ->ArgNames({"nodes", "clusters"})
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace goblin::cluster
