#include "experiment/run_cell.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/experiment/simulate.hpp"
#include "goblin/random.hpp"
#include "jobs.hpp"

#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

constexpr std::uint64_t points = 100;
constexpr double delta = 0.1;

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

}  // namespace

std::shared_future<Labels> Clusterings::get(const Cell& cell, const Graph& graph) {
  const Grouping& grouping = cell.setting.grouping;
  const std::string key =
      fmt::format("{} {} {} {} {}", cell.condition->key, cell.condition->fixed_graph ? 0 : cell.seed, grouping.clusters,
                  grouping.cluster_size, grouping.balanced);
  std::promise<Labels> promise;
  {
    const std::lock_guard lock(lock_);
    const auto [at, is_new] = made_.try_emplace(key, promise.get_future().share());
    if (!is_new) return at->second;
  }
  try {
    cluster::Options wanted{.clusters = grouping.clusters, .cluster_size = grouping.cluster_size};
    if (grouping.balanced) wanted.imbalance = Grouping::balanced_imbalance;
    promise.set_value(cluster::partition(graph, wanted).labels);
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
  const std::lock_guard lock(lock_);
  return made_.at(key);
}

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

namespace {

/// 0, ..., count - 1 in random order, so that the share of the cells that are done is that of the work on average.
std::vector<std::size_t> shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(0);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  return order;
}

void check(const Shard& shard) {
  if (shard.index < shard.count) return;
  throw std::invalid_argument(
      fmt::format("shard: index {} of {} (must be below the number of shards)", shard.index, shard.count));
}

}  // namespace

std::optional<std::vector<Outcome>> run_cells(std::span<const Cell> cells, const CellStore& store,
                                              const RunOptions& options) {
  check(options.shard);
  std::vector<Outcome> outcomes(cells.size());
  const auto found = [&](std::size_t k) {
    auto outcome = store.load(cells[k]);
    if (!outcome) return false;
    outcomes[k] = std::move(*outcome);
    if (options.on_cell) options.on_cell(true);
    return true;
  };
  // Whose a cell is follows from its place in the shuffled order, whatever is there already.
  std::vector<std::size_t> own;
  std::vector<std::size_t> others;
  const auto order = shuffled(cells.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (found(order[place])) continue;
    const bool is_own = place % options.shard.count == options.shard.index;
    (is_own ? own : others).push_back(order[place]);
  }
  std::atomic<std::size_t> ran = 0;
  const auto keep = [&](std::size_t k, const Outcome& outcome) {
    store.save(cells[k], outcome);
    outcomes[k] = outcome;
    ++ran;
    if (options.on_cell) options.on_cell(false);
  };
  if (options.elsewhere && !own.empty()) {
    std::vector<Cell> sent;
    for (const std::size_t k : own) sent.push_back(cells[k]);
    if (!options.elsewhere(sent, [&](std::size_t k, const Outcome& outcome) { keep(own.at(k), outcome); })) {
      return std::nullopt;
    }
  } else {
    Clusterings clusterings;
    run_jobs(own.size(), options.threads, [&](std::size_t job) {
      const auto outcome = run_cell(cells[own[job]], clusterings, options);
      if (outcome) keep(own[job], *outcome);
      return outcome.has_value();
    });
  }
  if (ran < own.size()) return std::nullopt;
  std::vector<Cell> missing;
  for (const std::size_t k : others) {
    if (!found(k)) missing.push_back(cells[k]);
  }
  if (missing.empty()) return outcomes;
  if (options.on_missing) options.on_missing(missing);
  return std::nullopt;
}

}  // namespace goblin::experiment
