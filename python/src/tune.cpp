#include "goblin/offline/tune.hpp"

#include "arguments.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "interruptibly.hpp"

#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace goblin::python {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Ends a tuning after a keyboard interrupt.
struct Stopped : std::exception {};

std::vector<NodeId> indices_of(nb::handle array, const char* name, std::size_t users) {
  std::vector<NodeId> result;
  const Array<std::int64_t> numbers(array, name);
  for (const std::int64_t number : numbers.all()) {
    if (number < 0 || static_cast<std::size_t>(number) >= users) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(number) +
                                  " (must be at least 0 and below the number of users, " + std::to_string(users) + ")");
    }
    result.push_back(static_cast<NodeId>(number));
  }
  return result;
}

void add_gain(nb::dict& row, const offline::Gain& gain) {
  row["gain"] = gain.mean;
  row["low"] = gain.low;
  row["high"] = gain.high;
}

/// The alphas that were tried by replay.
void add_alphas(nb::list& rows, const offline::TunedPolicy& tuned) {
  if (!tuned.replay) return;
  for (std::size_t k = 0; k < tuned.replay->tried.size(); ++k) {
    const offline::TriedAlpha& tried = tuned.replay->tried[k];
    nb::dict row;
    row["policy"] = std::string(name_of(tuned.policy));
    row["alpha"] = tried.alpha;
    row["of_noise"] = tried.of_noise;
    row["coupling"] = tried.coupling.value_or(nothing);
    row["of_coupling"] = tried.of_coupling;
    row["value"] = tried.value.mean;
    row["low"] = tried.value.low;
    row["high"] = tried.value.high;
    row["gain"] = tried.gain.mean;
    row["gain_low"] = tried.gain.low;
    row["gain_high"] = tried.gain.high;
    row["matched"] = tried.matched;
    row["effective_sample_size"] = tried.effective_sample_size;
    row["trusted"] = tried.trusted;
    row["chosen"] = tuned.replay->chosen == k;
    rows.append(row);
  }
}

nb::dict dict_of(const offline::TunedPolicy& tuned) {
  nb::dict row;
  row["policy"] = std::string(name_of(tuned.policy));
  row["ridge"] = tuned.ridge;
  row["coupling"] = tuned.coupling.value_or(nothing);
  row["hub_weight"] = tuned.hub_weight.value_or(nothing);
  row["noise"] = tuned.noise;
  row["alpha"] = tuned.alpha;
  row["alpha_by"] = tuned.alpha_by_replay() ? "replay" : "noise";
  row["coupling_by_replay"] = tuned.coupling_by_replay();
  row["replay"] = tuned.replay ? std::string(name_of(tuned.replay->answer)) : std::string();
  row["replay_reason"] = tuned.replay ? tuned.replay->reason : std::string();
  row["log_likelihood"] = tuned.log_likelihood;
  row["standard_error"] = tuned.standard_error;
  row["by_validation"] = tuned.by_validation;
  row["at_limit"] = tuned.at_limit;
  row["squared_error"] = tuned.squared_error;
  row["log_loss"] = tuned.log_loss;
  return row;
}

nb::list rows_of(const std::vector<offline::GroupGain>& groups) {
  nb::list rows;
  for (const offline::GroupGain& group : groups) {
    nb::dict row;
    row["group"] = group.group;
    row["users"] = group.users;
    row["rewards"] = group.rewards;
    add_gain(row, group.gain);
    rows.append(row);
  }
  return rows;
}

nb::dict dict_of(const offline::TuneResult& result, const PythonNames& users) {
  nb::list policies;
  nb::list tried;
  nb::list curve;
  nb::list alphas;
  for (const offline::TunedPolicy& tuned : result.policies) {
    policies.append(dict_of(tuned));
    add_alphas(alphas, tuned);
    for (const offline::LikelihoodPoint& point : tuned.tried) {
      nb::dict row;
      row["policy"] = std::string(name_of(tuned.policy));
      row[tuned.hub_weight ? "hub_weight" : "ridge"] = point.ridge;
      row[tuned.hub_weight ? "ridge" : "hub_weight"] = tuned.hub_weight ? tuned.ridge : nothing;
      row["coupling"] = point.coupling;
      row["log_likelihood"] = point.log_likelihood;
      row["standard_error"] = point.standard_error;
      row["noise"] = point.noise;
      tried.append(row);
    }
    for (const offline::CurvePoint& point : tuned.curve) {
      nb::dict row;
      row["policy"] = std::string(name_of(tuned.policy));
      row["rewards"] = point.rewards;
      row["squared_error"] = point.squared_error;
      curve.append(row);
    }
  }
  nb::list comparisons;
  for (const offline::Comparison& comparison : result.comparisons) {
    nb::dict row;
    row["rival"] = comparison.rival;
    row["squared_error"] = comparison.squared_error;
    add_gain(row, comparison.gain);
    comparisons.append(row);
  }
  nb::list user_gains;
  for (const offline::UserGain& user : result.user_gains) {
    nb::dict row;
    row["user"] = users.name(user.user);
    row["rewards"] = user.rewards;
    row["gain"] = user.gain;
    user_gains.append(row);
  }
  nb::dict object;
  object["graph_helps"] = std::string(name_of(result.graph_helps));
  object["reasons"] = result.reasons;
  object["warnings"] = result.warnings;
  object["best"] = std::string(name_of(result.policies[result.best].policy));
  object["rewards"] = result.rewards;
  object["constant_error"] = result.constant_error;
  object["policies"] = policies;
  object["tried"] = tried;
  object["curve"] = curve;
  object["alphas"] = alphas;
  object["comparisons"] = comparisons;
  object["user_gains"] = user_gains;
  object["by_cluster"] = rows_of(result.by_cluster);
  object["by_degree"] = rows_of(result.by_degree);
  object["by_rewards"] = rows_of(result.by_rewards);
  return object;
}

/// The rounds of a log for replay: row k has the candidates up to ends[k], an action (-1: it is a reward and no
/// decision), a probability (nan: nobody knows it) and the number that the caller's row has.
class Rounds {
 public:
  Rounds(const nb::tuple& columns, std::span<const NodeId> users, std::span<const double> rewards,
         std::size_t dimension)
      : users_(users),
        rewards_(rewards),
        dimension_(dimension),
        contexts_(columns[0], "contexts"),
        ends_(columns[1], "ends"),
        actions_(columns[2], "action"),
        probabilities_(columns[3], "probability"),
        places_(columns[4], "row") {}

  void read(const std::function<void(const offline::LoggedRound&)>& take) const {
    std::size_t begin = 0;
    for (std::size_t row = 0; row < users_.size(); ++row) {
      const std::size_t end = static_cast<std::size_t>(ends_.all()[row]) * dimension_;
      const std::int64_t action = actions_.all()[row];
      const double probability = probabilities_.all()[row];
      take({.user = users_[row],
            .contexts = contexts_.all().subspan(begin, end - begin),
            .action = action < 0 ? 0 : static_cast<std::size_t>(action),
            .reward = rewards_[row],
            .is_decision = action >= 0,
            .probability = std::isnan(probability) ? std::nullopt : std::optional(probability),
            .place = static_cast<std::size_t>(places_.all()[row])});
      begin = end;
    }
  }

 private:
  std::span<const NodeId> users_;
  std::span<const double> rewards_;
  std::size_t dimension_;
  Array<double> contexts_;
  Array<std::int64_t> ends_;
  Array<std::int64_t> actions_;
  Array<double> probabilities_;
  Array<std::int64_t> places_;
};

nb::dict tune(const PythonGraph& graph, nb::handle users, nb::handle contexts, nb::handle rewards,
              const std::vector<std::string>& policies, nb::handle clusters, nb::handle rewirings, nb::handle seed,
              nb::handle threads, nb::handle rounds) {
  const std::vector<NodeId> nodes = indices_of(users, "users", graph.users.size());
  const Array<double> numbers(contexts, "contexts");
  const Array<double> payoffs(rewards, "rewards");
  numbers.expect(numbers.dimensions() == 2 && numbers.size(0) == nodes.size() && numbers.size(1) > 0,
                 "(" + std::to_string(nodes.size()) + ", dimension), one row a reward");
  payoffs.expect(payoffs.dimensions() == 1 && payoffs.size(0) == nodes.size(),
                 "(" + std::to_string(nodes.size()) + ",)");
  offline::TuneOptions options;
  options.dimension = numbers.size(1);
  for (const std::string& policy : policies) options.policies.push_back(policy_named(policy));
  if (!clusters.is_none()) options.clusters = indices_of(clusters, "clusters", graph.users.size());
  options.rewirings = whole_argument(rewirings, "rewirings");
  options.seed = whole_argument(seed, "seed");
  options.threads = whole_argument(threads, "threads");
  const RewardTable table{.users = nodes, .contexts = numbers.all(), .rewards = payoffs.all()};
  std::optional<Rounds> replayed;
  if (!rounds.is_none()) {
    replayed.emplace(nb::cast<nb::tuple>(rounds), nodes, payoffs.all(), options.dimension);
    options.replay = [&replayed](const auto& take) { replayed->read(take); };
  }
  using Result = std::optional<offline::TuneResult>;
  const auto result = interruptibly<Result>([&](const std::atomic<bool>& stop) -> Result {
    options.progress = [&stop](double /*share*/) {
      if (stop) throw Stopped();
    };
    try {
      return offline::tune(graph.graph, table, options);
    } catch (const Stopped&) {
      return std::nullopt;
    } catch (const offline::BadRound& error) {
      throw std::invalid_argument("row " + std::to_string(error.place) + ": " + error.what());
    }
  });
  return dict_of(*result, graph.users);
}

}  // namespace

void bind_tune(nb::module_& module) {
  module.def(
      "tune", &tune, nb::arg("graph"), nb::arg("users"), nb::arg("contexts"), nb::arg("rewards"), nb::arg("policies"),
      nb::arg("clusters").none(), nb::arg("rewirings").none(), nb::arg("seed").none(), nb::arg("threads").none(),
      nb::arg("rounds").none(),
      nb::sig(
          "def tune(graph: Graph, users: numpy.typing.ArrayLike, contexts: numpy.typing.ArrayLike, "
          "rewards: numpy.typing.ArrayLike, policies: list[str], clusters: numpy.typing.ArrayLike | None, "
          "rewirings: int, seed: int, threads: int, rounds: tuple[typing.Any, ...] | None) -> dict[str, typing.Any]"));
}

}  // namespace goblin::python
