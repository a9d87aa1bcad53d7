#include "experiment/conditions.hpp"

#include "checked_file.hpp"
#include "goblin/world/catalogue.hpp"
#include "goblin/world/cliques.hpp"
#include "goblin/world/linear.hpp"

#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

/// The CRC-32 of what `write` writes.
std::uint32_t checksum_of(const std::function<void(BinaryWriter&)>& write) {
  std::uint32_t checksum = 0;
  BinaryWriter out([&checksum](const char* bytes, std::size_t size) { checksum = crc32_of(checksum, {bytes, size}); });
  write(out);
  return checksum;
}

/// Other edges, weights or numbers of users are another graph. The users' names change nothing that a cell finds.
std::uint32_t checksum_of(const Graph& graph) {
  return checksum_of([&graph](BinaryWriter& out) {
    out.size(graph.node_count());
    for (const Edge& edge : graph.edges()) {
      out.number(edge.a);
      out.number(edge.b);
      out.number(edge.weight);
    }
  });
}

/// Other contexts or other payoffs are other items.
std::uint32_t checksum_of_items(const data::Dataset& data) {
  return checksum_of([&data](BinaryWriter& out) {
    out.size(data.contexts.dimension);
    out.array(data.contexts.numbers);
    for (const data::Entry& entry : data.payoffs.entries()) {
      out.number(entry.row);
      out.number(entry.column);
      out.number(entry.value);
    }
  });
}

}  // namespace

std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> seeds(count);
  for (std::size_t k = 0; k < count; ++k) seeds[k] = first + k;
  return seeds;
}

Condition cliques(double graph_noise, double payoff_noise, std::optional<std::uint64_t> drift_after) {
  std::string key = fmt::format("4cliques/graph-{}-payoff-{}", graph_noise, payoff_noise);
  if (drift_after) key += fmt::format("-drift-{}", *drift_after);
  return {
      .key = std::move(key),
      .world_at = [graph_noise, payoff_noise, drift_after](std::uint64_t seed) -> std::shared_ptr<const world::World> {
        return std::make_shared<world::Cliques>(world::CliquesOptions{
            .graph_noise = graph_noise, .payoff_noise = payoff_noise, .drift_after = drift_after, .seed = seed});
      }};
}

Condition catalogue(std::string_view name, const std::shared_ptr<const data::Dataset>& data) {
  // Cells of other data, or of data prepared in another way, are other cells.
  return {.key = fmt::format("{}-{:08x}{:08x}", name, checksum_of(data->graph), checksum_of_items(*data)),
          .world_at = [data](std::uint64_t seed) -> std::shared_ptr<const world::World> {
            return std::make_shared<world::Catalogue>(data, world::CatalogueOptions{.seed = seed});
          },
          .fixed_graph = true};
}

Condition linear_over(std::string_view name, const std::shared_ptr<const data::Dataset>& data) {
  return {.key = fmt::format("linear-over-{}-{:08x}", name, checksum_of(data->graph)),
          .world_at = [data](std::uint64_t seed) -> std::shared_ptr<const world::World> {
            return std::make_shared<world::Linear>(data->graph,
                                                   world::LinearOptions{.payoff_noise = 0.25, .seed = seed});
          },
          .fixed_graph = true};
}

}  // namespace goblin::experiment
