#include "checked_file.hpp"
#include "experiment/cell_bytes.hpp"

#include <cerrno>
#include <cmath>
#include <system_error>
#include <type_traits>
#include <unistd.h>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

constexpr FileKind cell_file{"cell", {'G', 'O', 'B', 'C', 'E', 'L', 'L', '\n'}, 1};
constexpr FileKind costs_file{"costs of a cell", {'G', 'O', 'B', 'C', 'O', 'S', 'T', '\n'}, 1};

/// Calls `read` with what stands behind the key in a file of the cell. False if there is no such file, if it is
/// damaged, or if it is that of another cell or of another goblin.
template <typename Read>
bool read_file(const std::filesystem::path& file, const FileKind& kind, const std::string& key, Read read) {
  if (!std::filesystem::exists(file)) return false;
  try {
    const MappedFile mapped(file);
    BinaryReader in(checked_content(mapped.bytes(), file.string(), kind).bytes, file.string());
    return in.text() == key && read(in);
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

std::string name_of(const Grouping& grouping) {
  const char* shape = grouping.balanced ? " (balanced)" : "";
  if (grouping.clusters > 0) return fmt::format("{} clusters{}", grouping.clusters, shape);
  if (grouping.cluster_size > 0) return fmt::format("{} users each{}", grouping.cluster_size, shape);
  return {};
}

std::string exploration_of(const Setting& setting) {
  if (setting.printed_bound) return "printed_bound";
  return name_of(setting.exploration.value_or(Exploration::ucb(setting.alpha)));
}

std::vector<std::pair<std::string_view, std::string>> options_of(const Setting& setting) {
  const Setting standard;
  std::vector<std::pair<std::string_view, std::string>> options;
  const auto add = [&options](std::string_view name, const auto& value, const auto& otherwise) {
    if (value == otherwise) return;
    if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
      options.emplace_back(name, name_of(value));
    } else {
      options.emplace_back(name, fmt::format("{}", value));
    }
  };
  add("coupling", setting.coupling, standard.coupling);
  add("laplacian", setting.laplacian, standard.laplacian);
  add("hub", setting.hub.weight, standard.hub.weight);
  add("hub-ridge", setting.hub.ridge, standard.hub.ridge);
  add("buckets", setting.hash.buckets, standard.hash.buckets);
  add("hash-seed", setting.hash.seed, standard.hash.seed);
  add("club-graph", setting.club.graph, standard.club.graph);
  add("separation", setting.club.separation, standard.club.separation);
  add("club-seed", setting.club.seed, standard.club.seed);
  add("moving-clusters", setting.dynucb.clusters, standard.dynucb.clusters);
  add("dynucb-seed", setting.dynucb.seed, standard.dynucb.seed);
  add("window", setting.forgetting.window, standard.forgetting.window);
  add("discount", setting.forgetting.discount, standard.forgetting.discount);
  return options;
}

CellStore::CellStore(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error && ::access(folder_.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error) throw std::system_error(error, fmt::format("{}: cannot be written", folder_.string()));
}

std::filesystem::path CellStore::path(const Cell& cell) const { return folder_ / (name_of(cell) + ".cell"); }

std::filesystem::path CellStore::costs_path(const Cell& cell) const { return folder_ / (name_of(cell) + ".costs"); }

std::optional<Outcome> CellStore::load(const Cell& cell) const {
  const std::string key = key_of(cell);
  Outcome outcome;
  const bool found = read_file(path(cell), cell_file, key, [&](BinaryReader& in) {
    outcome.curve = read_curve(in);
    return !outcome.curve.empty() && outcome.last().round == cell.rounds;
  });
  if (!found) return std::nullopt;
  read_file(costs_path(cell), costs_file, key, [&](BinaryReader& in) {
    const auto seconds = in.number<double>();
    const auto bytes = in.number<std::uint64_t>();
    if (!std::isfinite(seconds) || seconds < 0.0) return false;
    outcome.seconds = seconds;
    outcome.bytes = bytes;
    return true;
  });
  return outcome;
}

void CellStore::save(const Cell& cell, const Outcome& outcome) const {
  const auto file = path(cell);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) throw std::system_error(error, fmt::format("{}: cannot be made", file.parent_path().string()));
  if (outcome.seconds) {
    write_checked_file(costs_path(cell), costs_file, [&](BinaryWriter& out) {
      out.text(key_of(cell));
      out.number(*outcome.seconds);
      out.number(outcome.bytes.value_or(0));
    });
  }
  write_checked_file(file, cell_file, [&](BinaryWriter& out) {
    out.text(key_of(cell));
    write_curve(out, outcome.curve);
  });
}

}  // namespace goblin::experiment
