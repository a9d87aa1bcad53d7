#include "random_log.hpp"

#include "goblin/data/own_files.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/random.hpp"
#include "json.hpp"

#include <fstream>
#include <functional>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace goblin::app {
namespace {

void write_new_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& content,
                    RandomLog& written) {
  std::ofstream out(path, std::ios::binary);
  if (out) content(out);
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: the file cannot be written", path.string()));
  written.files.push_back(path.string());
}

/// The name, or the number where there are no names.
Json name_of(const Names& names, NodeId index) { return names.empty() ? Json(index) : Json(names[index]); }

Json line_of(const world::World& world, const world::Round& round, std::size_t action) {
  const std::size_t count = round.payoffs.size();
  Json line = {{"user", name_of(world.graph().names(), round.user)}};
  Json candidates = Json::array();
  for (std::size_t arm = 0; arm < count; ++arm) {
    if (round.items.empty()) {
      const auto context = round.context(arm);
      candidates.push_back(Json(std::vector<double>(context.begin(), context.end())));
    } else {
      candidates.push_back(name_of(*world.items(), round.items[arm]));
    }
  }
  line[round.items.empty() ? "contexts" : "items"] = std::move(candidates);
  line["action"] = action;
  line["reward"] = round.payoffs[action];
  line["probability"] = 1.0 / static_cast<double>(count);
  return line;
}

}  // namespace

RandomLog write_random_log(const world::World& world, std::uint64_t rounds, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw std::runtime_error(fmt::format("{}: the folder cannot be made: {}", folder.string(), failed.message()));
  RandomLog written;
  write_new_file(
      folder / "edges.tsv", [&](std::ostream& out) { write_edges(out, world.graph()); }, written);
  if (world.items() != nullptr) {
    const auto content = [&](std::ostream& out) { data::write_items(out, *world.items(), *world.item_contexts()); };
    write_new_file(folder / "items.tsv", content, written);
  }
  const std::uint64_t seed = Random(world.seed(), world.repetition(), world::choice_stream).bits();
  world::Round round;
  const auto decide = [&](std::ostream& out) {
    for (std::uint64_t t = 0; t < rounds && out; ++t) {
      world.round(t, round);
      const std::size_t action = Random(seed, 0, t).below(round.payoffs.size());
      try {
        out << line_of(world, round, action).dump() << '\n';
      } catch (const Json::exception&) {
        throw std::invalid_argument(fmt::format("round {}: a name that is not UTF-8 (which JSON has to be)", t));
      }
      ++written.decisions;
      written.mean_reward += (round.payoffs[action] - written.mean_reward) / static_cast<double>(written.decisions);
    }
  };
  write_new_file(folder / "log.jsonl", decide, written);
  return written;
}

}  // namespace goblin::app
