#include "goblin/report/trace_csv.hpp"

#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace goblin::report {
namespace {

/// Quoted where it has to be.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::string name_or_index(const Names& names, NodeId index) {
  return index < names.size() ? csv_field(names[index]) : std::to_string(index);
}

}  // namespace

void write_csv_header(std::ostream& out) {
  out << "world,policy,alpha,seed,repetition,round,user,arm,item,payoff,average_payoff,reward,normalized_reward,"
         "regret,exploration\n";
}

void write_csv(std::ostream& out, const experiment::Trace& trace, const world::World& world) {
  const auto alpha = trace.exploration.alpha();
  const std::string start = fmt::format("{},{},{},{},{}", csv_field(trace.world), name_of(trace.policy),
                                        alpha ? fmt::format("{}", *alpha) : "", trace.seed, trace.repetition);
  const std::string exploration = name_of(trace.exploration);
  for (const experiment::TraceRow& row : trace.rows) {
    const Names* items = world.items();
    const std::string item = row.item && items != nullptr ? name_or_index(*items, *row.item) : "";
    fmt::format_to(std::ostream_iterator<char>(out), "{},{},{},{},{},{},{},{},{},{},{}\n", start, row.round,
                   name_or_index(world.graph().names(), row.user), row.arm, item, row.payoff, row.average_payoff,
                   row.reward, row.normalized_reward, row.regret ? fmt::format("{}", *row.regret) : "", exploration);
  }
}

}  // namespace goblin::report
