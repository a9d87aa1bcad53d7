#include "goblin/offline/evaluate.hpp"

#include "bandit/calls.hpp"

#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <vector>

namespace goblin::python {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

nb::dict dict_of(const offline::Estimate& estimate) {
  nb::dict row;
  const auto add = [&row](const std::string& name, const std::optional<offline::Interval>& interval) {
    row[(name + "low").c_str()] = interval ? interval->low : nothing;
    row[(name + "high").c_str()] = interval ? interval->high : nothing;
  };
  row["estimator"] = std::string(name_of(estimate.estimator));
  row["value"] = estimate.value.value;
  add("", estimate.value.interval);
  row["gain"] = estimate.gain.value;
  add("gain_", estimate.gain.interval);
  add("bernstein_", estimate.bernstein);
  add("clopper_pearson_", estimate.clopper_pearson);
  return row;
}

nb::dict dict_of(const offline::Evaluated& evaluated) {
  const offline::Summary& summary = evaluated.summary;
  const offline::Diagnostics& found = summary.diagnostics;
  nb::dict diagnostics;
  diagnostics["decisions"] = found.decisions;
  diagnostics["matched"] = found.matched;
  diagnostics["effective_sample_size"] = found.effective_sample_size;
  diagnostics["largest_weight"] = found.largest_weight;
  diagnostics["mean_weight"] = found.mean_weight;
  diagnostics["mean_weight_error"] = found.mean_weight_error.value_or(nothing);
  diagnostics["clipped_share"] = found.clipped_share;
  diagnostics["squared_error"] = summary.prediction.squared_error;
  diagnostics["squared_error_of_mean"] = summary.prediction.mean_error;
  diagnostics["skill"] = summary.prediction.skill.value;
  diagnostics["skill_low"] = summary.prediction.skill.interval.low;
  diagnostics["skill_high"] = summary.prediction.skill.interval.high;
  nb::list estimates;
  for (const offline::Estimate& estimate : summary.estimates) estimates.append(dict_of(estimate));
  nb::dict result;
  result["policy"] = evaluated.policy;
  result["exploration"] = evaluated.exploration;
  result["log"] = summary.log.value;
  result["log_low"] = summary.log.interval.low;
  result["log_high"] = summary.log.interval.high;
  result["users"] = found.users;
  result["rewards"] = summary.prediction.rewards;
  result["estimates"] = estimates;
  result["diagnostics"] = diagnostics;
  result["warnings"] = evaluated.warnings;
  return result;
}

/// Goes through a log with copies of the bandits, all of whose users they know. Row k has the contexts up to ends[k],
/// an action (-1: it is a reward and no decision), a reward and a probability.
nb::list evaluate(const nb::list& bandits, nb::handle users, nb::handle numbers, nb::handle contexts, nb::handle ends,
                  nb::handle actions, nb::handle rewards, nb::handle probabilities, nb::handle learn, nb::handle seed,
                  nb::handle clip, nb::handle resamples) {
  const offline::EvaluationOptions options{.learning = offline::learning_named(text_argument(learn, "learn")),
                                           .seed = whole_argument(seed, "seed"),
                                           .estimates = {.clip = number_argument(clip, "clip"),
                                                         .resamples = whole_argument(resamples, "resamples"),
                                                         .seed = whole_argument(seed, "seed")}};
  const Array<std::int64_t> numbered(numbers, "user");
  const Array<double> x(contexts, "contexts");
  const Array<std::int64_t> until(ends, "ends");
  const Array<std::int64_t> shown_ones(actions, "action");
  const Array<double> payoffs(rewards, "reward");
  const Array<double> propensities(probabilities, "probability");
  std::vector<offline::Evaluation> evaluations;
  std::vector<std::vector<NodeId>> who;
  for (const nb::handle each : bandits) {
    const auto& bandit = nb::cast<const PythonBandit&>(each);
    who.push_back(bandit.users.find_all(users));
    evaluations.emplace_back(asked(bandit, [](const SharedBandit& it) { return it.snapshot(); }), options);
  }
  const std::size_t d = evaluations.front().bandit().options().dimension;
  without_gil([&] {
    for (std::size_t row = 0; row < payoffs.all().size(); ++row) {
      constexpr std::size_t now_and_then = 1000;
      if (row % now_and_then == 0) hear_signals(0.0);
      const auto begin = static_cast<std::size_t>(row == 0 ? 0 : until.all()[row - 1]) * d;
      const auto numbers_of_row = x.all().subspan(begin, static_cast<std::size_t>(until.all()[row]) * d - begin);
      const auto number = static_cast<std::size_t>(numbered.all()[row]);
      const std::int64_t action = shown_ones.all()[row];
      try {
        for (std::size_t k = 0; k < evaluations.size(); ++k) {
          if (action < 0) {
            evaluations[k].add_reward(number, who[k][row], numbers_of_row, payoffs.all()[row]);
          } else {
            evaluations[k].add(number, who[k][row],
                               {.contexts = numbers_of_row,
                                .action = static_cast<std::size_t>(action),
                                .reward = payoffs.all()[row],
                                .probability = propensities.all()[row]});
          }
        }
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("row " + std::to_string(row) + ": " + error.what());
      }
    }
  });
  nb::list results;
  for (const auto& evaluation : evaluations) {
    const offline::Evaluated result = without_gil([&] { return evaluation.result(); });
    results.append(dict_of(result));
  }
  return results;
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  module.def("evaluate", &evaluate, nb::arg("bandits"), nb::arg("users"), nb::arg("numbers"), nb::arg("contexts"),
             nb::arg("ends"), nb::arg("actions"), nb::arg("rewards"), nb::arg("probabilities"), nb::arg("learn").none(),
             nb::arg("seed").none(), nb::arg("clip").none(), nb::arg("resamples").none(),
             nb::sig("def evaluate(bandits: list[Bandit], users: typing.Any, numbers: typing.Any, "
                     "contexts: typing.Any, ends: typing.Any, actions: typing.Any, rewards: typing.Any, "
                     "probabilities: typing.Any, learn: str, seed: int, clip: float, resamples: int) -> "
                     "list[dict[str, typing.Any]]"));
}

}  // namespace goblin::python
