#include "experiment/cell_bytes.hpp"

#include "checked_file.hpp"
#include "goblin/experiment/cell_runner.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

/// Goes up with every change of what the same cell finds: of a policy, an engine, a world or the clustering.
constexpr int simulation = 4;
constexpr FileKind sent_cell{"cell to run", {'G', 'O', 'B', 'S', 'E', 'N', 'T', '\n'}, 1};
constexpr FileKind found_outcome{"outcome of a cell", {'G', 'O', 'B', 'F', 'N', 'D', ' ', '\n'}, 1};
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::optional<double> number_or_nothing(double value) {
  return value == value ? std::optional(value) : std::nullopt;  // NaN
}

/// What the paper's rule goes by is its alpha; the names of other rules have signs that file names had better not have.
std::string rule_of(const Setting& setting) {
  if (!setting.printed_bound && !setting.exploration) return fmt::format("alpha-{}", setting.alpha);
  std::string name = setting.printed_bound ? "printed" : exploration_of(setting);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '+'; }, '-');
  return name;
}

std::string folder_of(const Setting& setting) {
  std::string name = fmt::format("{}-{}-scale-{}", name_of(setting.policy), rule_of(setting), setting.scale);
  if (setting.grouping.clusters > 0) name += fmt::format("-clusters-{}", setting.grouping.clusters);
  if (setting.grouping.cluster_size > 0) name += fmt::format("-size-{}", setting.grouping.cluster_size);
  if (setting.grouping.balanced) name += "-balanced";
  for (const auto& [option, value] : options_of(setting)) name += fmt::format("-{}-{}", option, value);
  return name;
}

void write_setting(BinaryWriter& out, const Setting& setting) {
  out.text(name_of(setting.policy));
  out.number(setting.alpha);
  out.number(setting.scale);
  out.size(setting.grouping.clusters);
  out.size(setting.grouping.cluster_size);
  out.size(setting.grouping.balanced ? 1 : 0);
  out.number(static_cast<std::uint8_t>(setting.printed_bound));
  out.text(setting.exploration ? name_of(*setting.exploration) : std::string());
  out.number(setting.coupling);
  out.text(name_of(setting.laplacian));
  out.number(setting.hub.weight);
  out.number(setting.hub.ridge);
  out.size(setting.hash.buckets);
  out.number(setting.hash.seed);
  out.text(name_of(setting.club.graph));
  out.number(setting.club.separation);
  out.number(setting.club.seed);
  out.size(setting.dynucb.clusters);
  out.number(setting.dynucb.seed);
  out.size(setting.forgetting.window);
  out.number(setting.forgetting.discount);
}

Setting read_setting(BinaryReader& in) {
  Setting setting;
  setting.policy = policy_named(in.text());
  setting.alpha = in.number<double>();
  setting.scale = in.number<double>();
  setting.grouping.clusters = in.size();
  setting.grouping.cluster_size = in.size();
  setting.grouping.balanced = in.size() == 1;
  setting.printed_bound = in.number<std::uint8_t>() != 0;
  if (const auto exploration = in.text(); !exploration.empty()) setting.exploration = exploration_named(exploration);
  setting.coupling = in.number<double>();
  setting.laplacian = laplacian_named(in.text());
  setting.hub.weight = in.number<double>();
  setting.hub.ridge = in.number<double>();
  setting.hash.buckets = in.size();
  setting.hash.seed = in.number<std::uint64_t>();
  setting.club.graph = club_graph_named(in.text());
  setting.club.separation = in.number<double>();
  setting.club.seed = in.number<std::uint64_t>();
  setting.dynucb.clusters = in.size();
  setting.dynucb.seed = in.number<std::uint64_t>();
  setting.forgetting.window = in.size();
  setting.forgetting.discount = in.number<double>();
  return setting;
}

}  // namespace

std::string name_of(const Cell& cell) {
  return fmt::format("{}/{}/rounds-{}-seed-{}", cell.condition->key, folder_of(cell.setting), cell.rounds, cell.seed);
}

std::string key_of(const Cell& cell) {
  return fmt::format("goblin {}, simulation {}: {}", GOBLIN_VERSION, simulation, name_of(cell));
}

void write_curve(BinaryWriter& out, const std::vector<Point>& curve) {
  std::vector<std::uint64_t> rounds;
  for (const Point& point : curve) rounds.push_back(point.round);
  out.array(rounds);
  for (const Point& point : curve) {
    out.number(point.reward);
    out.number(point.random_reward);
    out.number(point.log_determinant);
    out.number(point.regret.value_or(nothing));
    out.number(point.regret_bound.value_or(nothing));
  }
}

std::vector<Point> read_curve(BinaryReader& in) {
  std::vector<Point> curve;
  for (const std::uint64_t round : in.array<std::uint64_t>()) {
    Point point{.round = round};
    point.reward = in.number<double>();
    point.random_reward = in.number<double>();
    point.log_determinant = in.number<double>();
    point.regret = number_or_nothing(in.number<double>());
    point.regret_bound = number_or_nothing(in.number<double>());
    curve.push_back(point);
  }
  return curve;
}

std::string packed(const Cell& cell) {
  return checked_bytes(sent_cell, [&](BinaryWriter& out) {
    out.text(key_of(cell));
    out.text(cell.condition->key);
    write_setting(out, cell.setting);
    out.number(cell.seed);
    out.number(cell.rounds);
  });
}

Cell unpacked_cell(std::string_view bytes, std::span<const Condition> conditions) {
  const std::string name = "a cell from elsewhere";
  BinaryReader in(checked_content(bytes, name, sent_cell).bytes, name);
  const std::string key(in.text());
  const std::string condition(in.text());
  Cell cell{.condition = nullptr, .setting = read_setting(in), .seed = {}, .rounds = {}};
  cell.seed = in.number<std::uint64_t>();
  cell.rounds = in.number<std::uint64_t>();
  for (const Condition& each : conditions) {
    if (each.key == condition) cell.condition = &each;
  }
  if (cell.condition == nullptr) {
    in.fail(fmt::format("is for the world {}, which is not among those here: are the data and the options the same?",
                        condition));
  }
  if (key_of(cell) != key) {
    in.fail(fmt::format("is '{}', and would be '{}' here: is the same goblin installed there and here?", key,
                        key_of(cell)));
  }
  return cell;
}

std::string packed(const Cell& cell, const Outcome& outcome) {
  return checked_bytes(found_outcome, [&](BinaryWriter& out) {
    out.text(key_of(cell));
    write_curve(out, outcome.curve);
    out.number(outcome.seconds.value_or(nothing));
    out.number(outcome.bytes.value_or(0));
  });
}

Outcome unpacked_outcome(std::string_view bytes, const Cell& cell) {
  const std::string name = fmt::format("what was found elsewhere for {}", name_of(cell));
  BinaryReader in(checked_content(bytes, name, found_outcome).bytes, name);
  const std::string_view key = in.text();
  if (key != key_of(cell)) in.fail(fmt::format("is for '{}'", key));
  Outcome outcome{.curve = read_curve(in), .seconds = number_or_nothing(in.number<double>()), .bytes = {}};
  if (outcome.seconds) outcome.bytes = in.number<std::uint64_t>();
  in.expect(!outcome.curve.empty() && outcome.last().round == cell.rounds, "its rounds are not those of the cell");
  return outcome;
}

}  // namespace goblin::experiment
