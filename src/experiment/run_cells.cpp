#include "goblin/cluster/partition.hpp"
#include "goblin/experiment/cell.hpp"
#include "goblin/experiment/simulate.hpp"
#include "goblin/random.hpp"
#include "jobs.hpp"

#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

constexpr std::uint64_t points = 100;
constexpr double delta = 0.1;

using Labels = std::vector<NodeId>;

/// Clusterings, each made once, by the first thread that asks for it.
class Clusterings {
 public:
  std::shared_future<Labels> get(const Cell& cell, const Graph& graph) {
    const Grouping& grouping = cell.setting.grouping;
    const std::string key = fmt::format("{} {} {} {}", cell.condition->key, cell.condition->fixed_graph ? 0 : cell.seed,
                                        grouping.clusters, grouping.cluster_size);
    std::promise<Labels> promise;
    {
      const std::lock_guard lock(lock_);
      const auto [at, is_new] = made_.try_emplace(key, promise.get_future().share());
      if (!is_new) return at->second;
    }
    try {
      promise.set_value(
          cluster::partition(graph, {.clusters = grouping.clusters, .cluster_size = grouping.cluster_size}).labels);
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    const std::lock_guard lock(lock_);
    return made_.at(key);
  }

 private:
  std::mutex lock_;
  std::map<std::string, std::shared_future<Labels>> made_;
};

/// Theorem 1 for every row of the trace.
void add_bounds(Outcome& outcome, const Bandit& bandit, const world::LinearTruth& truth) {
  const double smoothness = bandit.smoothness(truth.user_vectors);
  for (Point& point : outcome.curve) {
    point.regret_bound = regret_bound(
        point.round, point.log_determinant, bandit.prior_precision(),
        {.noise = truth.noise, .delta = delta, .context_length = truth.context_length, .smoothness = smoothness});
  }
}

BanditOptions bandit_options_of(const Setting& setting, std::size_t dimension) {
  // Contexts times the scale are the same as all that A has divided by its square.
  const double factor = 1.0 / (setting.scale * setting.scale);
  BanditOptions options{.dimension = dimension, .alpha = setting.alpha, .exploration = setting.exploration};
  options.ridge = factor * info_of(setting.policy).usual_ridge;
  options.coupling = factor * setting.coupling;
  options.laplacian = setting.laplacian;
  options.hub = {.weight = factor * setting.hub.weight, .ridge = factor * setting.hub.ridge};
  options.hash = setting.hash;
  options.club = setting.club;
  options.dynucb = setting.dynucb;
  options.forgetting = setting.forgetting;
  return options;
}

/// Nothing if it was stopped.
std::optional<Outcome> run_cell(const Cell& cell, Clusterings& clusterings, const RunOptions& options) {
  const auto world = cell.condition->world_at(cell.seed);
  const Setting& setting = cell.setting;
  Labels clusters;
  if (uses_clusters(setting.policy)) clusters = clusterings.get(cell, world->graph()).get();
  const auto truth = world->truth();
  const bool a_node_each = has_node_per_user(setting.policy);
  auto bandit = Bandit::make(setting.policy, world->graph(), clusters, bandit_options_of(setting, world->dimension()));
  if (setting.printed_bound) {
    if (!truth || !a_node_each) throw std::invalid_argument("printed_bound: needs known vectors and a node a user");
    bandit.set_exploration(Exploration::printed_bound(
        {.noise = truth->noise, .delta = delta, .norm = std::sqrt(bandit.smoothness(truth->user_vectors))}));
  }
  const auto trace = simulate(bandit, *world,
                              {.rounds = cell.rounds,
                               .record_every = std::max<std::uint64_t>(1, cell.rounds / points),
                               .clock = options.clock,
                               .keep_going = options.keep_going});
  if (trace.rounds < cell.rounds) return std::nullopt;
  Outcome outcome;
  if (options.clock) {
    outcome.seconds = trace.seconds;
    outcome.bytes = trace.bandit.bytes;
  }
  for (const TraceRow& row : trace.rows) {
    outcome.curve.push_back({.round = row.round,
                             .reward = row.reward,
                             .random_reward = row.reward - row.normalized_reward,
                             .log_determinant = row.log_determinant,
                             .regret = row.regret});
  }
  if (truth && a_node_each) add_bounds(outcome, bandit, *truth);
  return outcome;
}

/// In random order, so that the share of the cells that are done is that of the work on average.
std::vector<std::size_t> shuffled(std::vector<std::size_t> order) {
  Random random(0);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  return order;
}

}  // namespace

std::optional<std::vector<Outcome>> run_cells(std::span<const Cell> cells, const CellStore& store,
                                              const RunOptions& options) {
  std::vector<Outcome> outcomes(cells.size());
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (auto found = store.load(cells[k])) {
      outcomes[k] = std::move(*found);
      if (options.on_cell) options.on_cell(true);
    } else {
      missing.push_back(k);
    }
  }
  missing = shuffled(std::move(missing));
  Clusterings clusterings;
  const bool whole = run_jobs(missing.size(), options.threads, [&](std::size_t job) {
    const Cell& cell = cells[missing[job]];
    auto outcome = run_cell(cell, clusterings, options);
    if (!outcome) return false;
    store.save(cell, *outcome);
    outcomes[missing[job]] = std::move(*outcome);
    if (options.on_cell) options.on_cell(false);
    return true;
  });
  if (!whole) return std::nullopt;
  return outcomes;
}

}  // namespace goblin::experiment
