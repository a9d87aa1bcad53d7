#include "arguments.hpp"
#include "arrays.hpp"
#include "bandit/calls.hpp"
#include "bindings.hpp"
#include "goblin/experiment/sweep.hpp"
#include "interruptibly.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goblin::python {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Number>
nb::object optional_of(const std::optional<Number>& number) {
  return number ? nb::cast(*number) : nb::none();
}

nb::dict dict_of(const experiment::Trace& trace) {
  nb::dict result;
  result["world"] = trace.world;
  result["policy"] = std::string(name_of(trace.policy));
  result["alpha"] = optional_of(trace.exploration.alpha());
  result["exploration"] = name_of(trace.exploration);
  result["seed"] = trace.seed;
  result["repetition"] = trace.repetition;
  result["rounds"] = trace.rounds;
  result["reward"] = trace.reward;
  result["random_reward"] = trace.random_reward;
  result["normalized_reward"] = trace.normalized_reward();
  result["regret"] = optional_of(trace.regret);
  result["regret_bound"] = optional_of(trace.regret_bound);
  result["negative_payoffs"] = trace.negative_payoffs;
  result["seconds"] = trace.seconds;
  result["summary"] = summary_of(trace.bandit);

  using Row = experiment::TraceRow;
  const auto& rows = trace.rows;
  nb::dict columns;
  columns["round"] = column_of<std::int64_t>(rows, [](const Row& row) { return row.round; });
  columns["user"] = column_of<std::int64_t>(rows, [](const Row& row) { return row.user; });
  columns["arm"] = column_of<std::int64_t>(rows, [](const Row& row) { return row.arm; });
  if (!rows.empty() && rows.front().item) {
    columns["item"] = column_of<std::int64_t>(rows, [](const Row& row) { return row.item.value_or(0); });
  }
  columns["probability"] = column_of<double>(rows, [](const Row& row) { return row.probability; });
  columns["payoff"] = column_of<double>(rows, [](const Row& row) { return row.payoff; });
  columns["average_payoff"] = column_of<double>(rows, [](const Row& row) { return row.average_payoff; });
  columns["reward"] = column_of<double>(rows, [](const Row& row) { return row.reward; });
  columns["normalized_reward"] = column_of<double>(rows, [](const Row& row) { return row.normalized_reward; });
  columns["regret"] = column_of<double>(
      rows, [](const Row& row) { return row.regret.value_or(std::numeric_limits<double>::quiet_NaN()); });
  result["columns"] = columns;
  return result;
}

experiment::SimulateOptions simulate_options(nb::handle rounds, nb::handle record_every, double delta) {
  experiment::SimulateOptions options;
  options.rounds = whole_argument(rounds, "rounds");
  options.record_every = record_every.is_none() ? std::max<std::size_t>(1, options.rounds / 100)
                                                : whole_argument(record_every, "record_every");
  options.clock = &seconds_now;
  options.delta = delta;
  return options;
}

nb::dict simulate(PythonBandit& self, const PythonWorld& world, nb::handle rounds, nb::handle record_every,
                  nb::handle delta, nb::handle samples) {
  experiment::SimulateOptions options = simulate_options(rounds, record_every, number_argument(delta, "delta"));
  options.samples = whole_argument(samples, "samples");
  if (!self.users.same_as(world.users)) {
    throw std::invalid_argument("bandit: its " + std::to_string(self.users.size()) + " users are not the " +
                                std::to_string(world.users.size()) + " of the world: make it with world.graph");
  }
  return dict_of(interruptibly<experiment::Trace>([&](const std::atomic<bool>& stop) {
    options.keep_going = [&stop] { return !stop; };
    // Other threads decide meanwhile, with the bandit as it was.
    std::optional<experiment::Trace> trace;
    self.bandit.change([&](Bandit& bandit) { trace = experiment::simulate(bandit, *world.world, options); });
    return *std::move(trace);
  }));
}

nb::dict dict_of(const experiment::Result& result) {
  const auto estimate = [](nb::dict& into, const char* name, const std::optional<experiment::Estimate>& value) {
    const std::string error = std::string(name) + "_standard_error";
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    into[name] = value ? value->mean : nothing;
    into[error.c_str()] = value ? value->standard_error.value_or(nothing) : nothing;
  };
  nb::dict row;
  row["world"] = result.world;
  row["policy"] = std::string(name_of(result.policy));
  row["alpha"] = result.exploration.alpha().value_or(std::numeric_limits<double>::quiet_NaN());
  row["repetitions"] = result.repetitions;
  row["rounds"] = result.rounds;
  estimate(row, "reward", result.reward);
  estimate(row, "random_reward", result.random_reward);
  estimate(row, "normalized_reward", result.normalized_reward);
  estimate(row, "regret", result.regret);
  row["ratio_to_random"] = result.ratio_to_random.value_or(std::numeric_limits<double>::quiet_NaN());
  row["seconds"] = result.seconds;
  row["bytes"] = result.bytes;
  row["engine"] = result.engine;
  row["exploration"] = name_of(result.exploration);
  return row;
}

/// As much of a trace as summarize looks at, from its dict.
experiment::Trace trace_of(const nb::dict& given) {
  const auto number = [&given](const char* name) -> std::optional<double> {
    return given[name].is_none() ? std::nullopt : std::optional(nb::cast<double>(given[name]));
  };
  experiment::Trace trace;
  trace.world = nb::cast<std::string>(given["world"]);
  trace.policy = policy_named(nb::cast<std::string>(given["policy"]));
  trace.exploration = exploration_named(nb::cast<std::string>(given["exploration"]));
  trace.rounds = nb::cast<std::uint64_t>(given["rounds"]);
  trace.reward = nb::cast<double>(given["reward"]);
  trace.random_reward = nb::cast<double>(given["random_reward"]);
  trace.negative_payoffs = nb::cast<bool>(given["negative_payoffs"]);
  trace.regret = number("regret");
  trace.regret_bound = number("regret_bound");
  trace.seconds = nb::cast<double>(given["seconds"]);
  const auto summary = nb::cast<nb::dict>(given["summary"]);
  trace.bandit.bytes = nb::cast<std::size_t>(summary["bytes"]);
  for (const nb::handle each : nb::cast<nb::list>(summary["components"])) {
    const auto component = nb::cast<nb::dict>(each);
    ComponentSummary& part = trace.bandit.components.emplace_back();
    part.nodes = nb::cast<std::size_t>(component["nodes"]);
    part.engine = engine_kind(nb::cast<std::string>(component["engine"]));
  }
  return trace;
}

/// The row of results of one case, from the dicts of its traces.
nb::dict summarize(const std::vector<nb::dict>& traces) {
  std::vector<experiment::Trace> all;
  for (const nb::dict& each : traces) all.push_back(trace_of(each));
  return dict_of(experiment::summarize(all));
}

/// Every case, a policy and its options, in every world: the traces, case after case, and a row of results for each.
nb::tuple sweep(const nb::list& worlds, const nb::list& clusters,
                const std::vector<std::pair<std::string, nb::dict>>& cases, nb::handle rounds, nb::handle record_every,
                nb::handle threads) {
  std::vector<experiment::Stage> stages;
  for (std::size_t k = 0; k < worlds.size(); ++k) {
    experiment::Stage stage{.world = nb::cast<const PythonWorld&>(worlds[k]).world, .clusters = {}};
    if (!clusters[k].is_none()) {
      for (const std::int64_t label : Array<std::int64_t>(clusters[k], "clusters").all()) {
        stage.clusters.push_back(static_cast<NodeId>(whole_argument(nb::int_(label), "clusters")));
      }
    }
    stages.push_back(std::move(stage));
  }
  std::vector<experiment::Case> wanted;
  for (const auto& [name, options] : cases) {
    const Policy policy = policy_named(name);
    wanted.push_back({.policy = policy, .bandit = options_of(options)});
    wanted.back().bandit.engine.progress = {};  // stop is looked at instead
  }
  experiment::SweepOptions options{.simulate = simulate_options(rounds, record_every, 0.1),
                                   .threads = whole_argument(threads, "threads", 1)};
  const auto traces = interruptibly<std::vector<std::vector<experiment::Trace>>>([&](const std::atomic<bool>& stop) {
    options.simulate.keep_going = [&stop] { return !stop; };
    return experiment::sweep(stages, wanted, options);
  });
  nb::list all;
  nb::list results;
  for (const auto& of_case : traces) {
    for (const experiment::Trace& trace : of_case) all.append(dict_of(trace));
    results.append(dict_of(experiment::summarize(of_case)));
  }
  return nb::make_tuple(all, results);
}

}  // namespace

void bind_experiment(nb::module_& module) {
  module.def("simulate", &simulate, nb::arg("bandit"), nb::arg("world"), nb::arg("rounds").none(),
             nb::arg("record_every").none(), nb::arg("delta").none(), nb::arg("samples").none(),
             nb::sig("def simulate(bandit: Bandit, world: World, rounds: int, record_every: int, "
                     "delta: float, samples: int) -> dict[str, typing.Any]"));
  module.def(
      "sweep", &sweep, nb::arg("worlds"), nb::arg("clusters"), nb::arg("cases"), nb::arg("rounds").none(),
      nb::arg("record_every").none(), nb::arg("threads").none(),
      nb::sig("def sweep(worlds: list[World], clusters: list[typing.Any], "
              "cases: list[tuple[str, dict[str, typing.Any]]], rounds: int, record_every: int | None, threads: int) -> "
              "tuple[list[dict[str, typing.Any]], list[dict[str, typing.Any]]]"));
  module.def("summarize", &summarize, nb::arg("traces"),
             nb::sig("def summarize(traces: list[dict[str, typing.Any]]) -> dict[str, typing.Any]"));
}

}  // namespace goblin::python
