// Loading a large edge file: a million users, ten million friendships.

#include "goblin/goblin.hpp"
#include "meters.hpp"

#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace goblin::bench {
namespace {

void load_edge_file(benchmark::State& state) {
  constexpr std::size_t users = 1'000'000;
  const auto path = std::filesystem::temp_directory_path() / "goblin-bench-edges.tsv";
  {
    std::ofstream out(path);
    fmt::memory_buffer line;
    Random random(1);
    for (std::size_t edge = 0; edge < 10 * users; ++edge) {
      const auto a = random.below(users);
      const auto b = (a + 1 + random.below(users - 1)) % users;
      line.clear();
      fmt::format_to(std::back_inserter(line), "user{}\tuser{}\n", a, b);
      out.write(line.data(), static_cast<std::streamsize>(line.size()));
    }
  }
  const double before = peak_bytes();
  while (state.KeepRunning()) {
    const Graph graph = read_edge_file(path);
    state.counters["graph_MB"] = static_cast<double>(graph.bytes()) / 1048576.0;
    state.counters["edges"] = static_cast<double>(graph.edge_count());
  }
  state.counters["peak_MB"] = (peak_bytes() - before) / 1048576.0;
  std::filesystem::remove(path);
}
BENCHMARK(load_edge_file)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace goblin::bench
