#include "goblin/experiment/sweep.hpp"

#include "jobs.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

BanditOptions options_of(const Stage& stage, const Case& wanted) {
  BanditOptions options = wanted.bandit;
  options.dimension = stage.world->dimension();
  options.alpha = wanted.alpha;
  return options;
}

std::span<const NodeId> clusters_of(const Stage& stage, const Case& wanted) {
  return uses_clusters(wanted.policy) ? std::span(stage.clusters) : std::span<const NodeId>{};
}

Trace run(const Stage& stage, const Case& wanted, const SimulateOptions& options) {
  auto bandit =
      Bandit::make(wanted.policy, stage.world->graph(), clusters_of(stage, wanted), options_of(stage, wanted));
  return simulate(bandit, *stage.world, options);
}

/// The kinds of engines, that of the largest component first.
std::string engines_of(const BanditSummary& bandit) {
  std::vector<ComponentSummary> components = bandit.components;
  std::stable_sort(components.begin(), components.end(),
                   [](const ComponentSummary& a, const ComponentSummary& b) { return a.nodes > b.nodes; });
  std::vector<EngineKind> kinds;
  std::string engines;
  for (const ComponentSummary& component : components) {
    if (std::find(kinds.begin(), kinds.end(), component.engine) != kinds.end()) continue;
    engines += fmt::format("{}{}", kinds.empty() ? "" : "+", name_of(component.engine));
    kinds.push_back(component.engine);
  }
  return engines;
}

template <typename Value>
Estimate estimate_of(const std::vector<const Trace*>& traces, Value value) {
  std::vector<double> values;
  values.reserve(traces.size());
  for (const Trace* trace : traces) values.push_back(value(*trace));
  return estimate(values);
}

}  // namespace

std::vector<std::vector<Trace>> sweep(std::span<const Stage> stages, std::span<const Case> cases,
                                      const SweepOptions& options) {
  // A bandit that cannot be is refused before others have played for hours.
  for (const Case& each : cases) {
    if (stages.empty()) break;
    const Stage& first = stages.front();
    (void)Bandit::estimate_bytes(each.policy, first.world->graph(), clusters_of(first, each), options_of(first, each));
  }
  std::vector<std::vector<Trace>> traces(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    traces[k].resize(stages.size());
    for (Trace& trace : traces[k]) {
      trace.policy = cases[k].policy;
      trace.exploration = cases[k].bandit.exploration.value_or(Exploration::ucb(cases[k].alpha));
    }
  }
  run_jobs(cases.size() * stages.size(), options.threads, [&](std::size_t job) {
    const std::size_t stage = job / cases.size();
    const std::size_t at = job % cases.size();
    traces[at][stage] = run(stages[stage], cases[at], options.simulate);
    return traces[at][stage].rounds == options.simulate.rounds;  // else it was stopped
  });
  return traces;
}

Result summarize(std::span<const Trace> traces) {
  if (traces.empty()) throw std::invalid_argument("traces: none (must be at least 1)");
  std::uint64_t most = 0;
  for (const Trace& trace : traces) most = std::max(most, trace.rounds);
  std::vector<const Trace*> whole;
  for (const Trace& trace : traces) {
    if (trace.rounds == most) whole.push_back(&trace);
  }
  const Trace& first = *whole.front();
  Result result{.world = first.world,
                .policy = first.policy,
                .exploration = first.exploration,
                .repetitions = most > 0 ? whole.size() : 0,
                .rounds = most,
                .reward = estimate_of(whole, [](const Trace& trace) { return trace.reward; }),
                .random_reward = estimate_of(whole, [](const Trace& trace) { return trace.random_reward; }),
                .normalized_reward = estimate_of(whole, [](const Trace& trace) { return trace.normalized_reward(); }),
                .ratio_to_random = {},
                .regret = {},
                .regret_bound = {},
                .seconds = estimate_of(whole, [](const Trace& trace) { return trace.seconds; }).mean,
                .engine = engines_of(first.bandit)};
  const bool negative =
      std::any_of(whole.begin(), whole.end(), [](const Trace* trace) { return trace->negative_payoffs; });
  if (!negative && result.random_reward.mean > 0.0) {
    result.ratio_to_random = result.reward.mean / result.random_reward.mean;
  }
  if (first.regret) result.regret = estimate_of(whole, [](const Trace& trace) { return trace.regret.value_or(0.0); });
  if (first.regret_bound) {
    result.regret_bound = estimate_of(whole, [](const Trace& trace) { return trace.regret_bound.value_or(0.0); });
  }
  if (result.seconds > 0.0) result.rounds_per_second = static_cast<double>(most) / result.seconds;
  for (const Trace* trace : whole) result.bytes = std::max(result.bytes, trace->bandit.bytes);
  return result;
}

}  // namespace goblin::experiment
