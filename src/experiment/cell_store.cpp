#include "checked_file.hpp"
#include "goblin/experiment/cell.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

constexpr FileKind cell_file{"cell", {'G', 'O', 'B', 'C', 'E', 'L', 'L', '\n'}, 1};
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string folder_of(const Setting& setting) {
  std::string name = setting.printed_bound
                         ? fmt::format("{}-printed-scale-{}", name_of(setting.policy), setting.scale)
                         : fmt::format("{}-alpha-{}-scale-{}", name_of(setting.policy), setting.alpha, setting.scale);
  if (setting.grouping.clusters > 0) name += fmt::format("-clusters-{}", setting.grouping.clusters);
  if (setting.grouping.cluster_size > 0) name += fmt::format("-size-{}", setting.grouping.cluster_size);
  return name;
}

/// The file's name within the folder, which is also written into it: a file that was moved is not mistaken for another.
std::string key_of(const Cell& cell) {
  return fmt::format("{}/{}/rounds-{}-seed-{}", cell.condition->key, folder_of(cell.setting), cell.rounds, cell.seed);
}

std::optional<double> number_or_nothing(double value) {
  return value == value ? std::optional(value) : std::nullopt;  // NaN
}

std::filesystem::path with_extension(std::filesystem::path path, const char* extension) { return path += extension; }

}  // namespace

std::string name_of(const Grouping& grouping) {
  if (grouping.clusters > 0) return fmt::format("{} clusters", grouping.clusters);
  if (grouping.cluster_size > 0) return fmt::format("{} users each", grouping.cluster_size);
  return {};
}

CellStore::CellStore(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error && ::access(folder_.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error) throw std::system_error(error, fmt::format("{}: cannot be written", folder_.string()));
}

std::filesystem::path CellStore::path(const Cell& cell) const { return folder_ / (key_of(cell) + ".cell"); }

std::optional<Outcome> CellStore::load(const Cell& cell) const {
  const auto file = path(cell);
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    const MappedFile mapped(file);
    BinaryReader in(checked_content(mapped.bytes(), file.string(), cell_file), file.string());
    if (in.text() != key_of(cell)) return std::nullopt;
    const auto rounds = in.array<std::uint64_t>();
    Outcome outcome;
    for (const std::uint64_t round : rounds) {
      Point point{.round = round};
      point.reward = in.number<double>();
      point.random_reward = in.number<double>();
      point.log_determinant = in.number<double>();
      point.regret = number_or_nothing(in.number<double>());
      point.regret_bound = number_or_nothing(in.number<double>());
      outcome.curve.push_back(point);
    }
    if (outcome.curve.empty() || outcome.last().round != cell.rounds) return std::nullopt;
    std::ifstream times(with_extension(folder_ / key_of(cell), ".seconds"));
    if (double seconds = 0.0; times >> seconds) outcome.seconds = seconds;
    return outcome;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

void CellStore::save(const Cell& cell, const Outcome& outcome) const {
  const auto file = path(cell);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) throw std::system_error(error, fmt::format("{}: cannot be made", file.parent_path().string()));
  if (outcome.seconds) {
    const auto times = with_extension(folder_ / key_of(cell), ".seconds");
    std::ofstream(times) << fmt::format("{:.6f}\n", *outcome.seconds);
  }
  write_checked_file(file, cell_file, [&](BinaryWriter& out) {
    out.text(key_of(cell));
    std::vector<std::uint64_t> rounds;
    for (const Point& point : outcome.curve) rounds.push_back(point.round);
    out.array(rounds);
    for (const Point& point : outcome.curve) {
      out.number(point.reward);
      out.number(point.random_reward);
      out.number(point.log_determinant);
      out.number(point.regret.value_or(nothing));
      out.number(point.regret_bound.value_or(nothing));
    }
  });
}

}  // namespace goblin::experiment
