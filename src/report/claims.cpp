#include "goblin/report/claims.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using experiment::Entry;
using experiment::Finalist;
using experiment::Outcome;
using experiment::paper::DatasetResult;
using experiment::paper::GridResult;
using experiment::paper::Results;

constexpr double error_rate = 0.05;
constexpr const char* reward_unit = "normalized reward";

/// Of each of so many intervals that are to hold together.
double level_of(std::size_t together) { return 1.0 - error_rate / static_cast<double>(together); }

std::string_view name(Policy policy) { return goblin::name_of(policy); }

using Value = std::function<double(const Outcome&)>;

double reward_of(const Outcome& outcome) { return outcome.normalized_reward(); }

double milliseconds_of(const Outcome& outcome) {
  return 1e3 * outcome.seconds.value() / static_cast<double>(outcome.last().round);
}

std::vector<double> values(const Finalist& finalist, const Value& value) {
  std::vector<double> result;
  for (const Outcome& outcome : finalist.outcomes) result.push_back(value(outcome));
  return result;
}

std::vector<double> minus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] -= b[k];
  return a;
}

std::vector<double> ratio(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] /= b[k];
  return a;
}

/// Collects the claims of one way of choosing.
class Judge {
 public:
  Judge(const Results& results, Choice choice) : results_(results), choice_(choice) {}

  std::vector<Claim> judge_all() {
    if (!results_.grid.empty()) judge_grid();
    for (const DatasetResult& dataset : results_.datasets) judge_dataset(dataset);
    for (const auto& theorem : results_.theorem) judge_theorem(theorem);
    for (Claim& claim : claims_) judge(claim);
    return std::move(claims_);
  }

 private:
  [[nodiscard]] const Finalist& pick(const Entry& entry) const {
    return choice_ == Choice::tuned ? entry.tuned() : entry.hindsight();
  }

  Claim& add(std::string id, std::string part, std::string text, std::string unit) {
    claims_.push_back({.id = std::move(id),
                       .part = std::move(part),
                       .text = std::move(text),
                       .unit = std::move(unit),
                       .differences = {}});
    return claims_.back();
  }

  static void part(Claim& claim, std::string label, std::vector<double> by_seed) {
    claim.differences.push_back({.label = std::move(label), .by_seed = std::move(by_seed), .estimate = {}});
  }

  [[nodiscard]] std::vector<double> rewards(const GridResult& at, Policy policy) const {
    return values(pick(at.result.entry(name(policy))), reward_of);
  }

  [[nodiscard]] const GridResult& grid_at(double graph_noise, double payoff_noise) const {
    for (const GridResult& each : results_.grid) {
      if (each.graph_noise == graph_noise && each.payoff_noise == payoff_noise) return each;
    }
    throw std::logic_error("no such world in the grid");
  }

  void judge_grid() {
    const double most_graph_noise = results_.grid.back().graph_noise;
    const double most_payoff_noise = results_.grid.back().payoff_noise;

    Claim& robust = add("payoff-noise", "4cliques", "gob.lin is more robust to payoff noise than the two baselines.",
                        "share of the noiseless reward that is kept");
    for (const GridResult& noisy : results_.grid) {
      if (noisy.payoff_noise != most_payoff_noise) continue;
      const GridResult& quiet = grid_at(noisy.graph_noise, 0.0);
      const auto kept = [&](Policy policy) { return ratio(rewards(noisy, policy), rewards(quiet, policy)); };
      for (const Policy baseline : {Policy::linucb_sin, Policy::linucb_ind}) {
        part(robust,
             fmt::format("gob.lin - {}, payoff noise {} against 0, graph noise {}", name(baseline), most_payoff_noise,
                         noisy.graph_noise),
             minus(kept(Policy::gob_lin), kept(baseline)));
      }
    }

    Claim& never = add("sin-never-ahead", "4cliques", "linucb-sin never outperforms gob.lin.", reward_unit);
    for (const GridResult& at : results_.grid) {
      part(never, fmt::format("gob.lin - linucb-sin, graph noise {}, payoff noise {}", at.graph_noise, at.payoff_noise),
           minus(rewards(at, Policy::gob_lin), rewards(at, Policy::linucb_sin)));
    }

    Claim& degrades =
        add("graph-noise", "4cliques", "Graph noise costs gob.lin reward when payoff noise is low.", reward_unit);
    part(degrades, fmt::format("gob.lin at graph noise 0 - at {}, payoff noise 0", most_graph_noise),
         minus(rewards(grid_at(0.0, 0.0), Policy::gob_lin), rewards(grid_at(most_graph_noise, 0.0), Policy::gob_lin)));
  }

  /// One part for each pair: the policy is ahead of the other.
  void ahead(Claim& claim, const DatasetResult& dataset, Policy policy, std::initializer_list<Policy> others) const {
    for (const Policy other : others) {
      part(claim, fmt::format("{} - {}", name(policy), name(other)),
           minus(values(pick(dataset.entry(name(policy))), reward_of),
                 values(pick(dataset.entry(name(other))), reward_of)));
    }
  }

  void judge_dataset(const DatasetResult& dataset) {
    using enum Policy;
    const std::string& part_name = dataset.result.study.name;
    const std::string& title = dataset.result.study.title;
    const bool lastfm = part_name == "lastfm";
    const auto claim = [&](const char* id, const std::string& text) -> Claim& {
      return add(fmt::format("{}-{}", part_name, id), part_name, text, reward_unit);
    };

    Claim& outperform =
        claim("graph-helps", fmt::format("On {}, gob.lin and its two variants outperform both baselines.", title));
    for (const Policy policy : {gob_lin, gob_lin_macro, gob_lin_block}) {
      ahead(outperform, dataset, policy, {linucb_sin, linucb_ind});
    }
    if (lastfm) {
      ahead(claim("macro-best", "gob.lin.macro is the best of all on Last.fm."), dataset, gob_lin_macro,
            {linucb_sin, linucb_ind, gob_lin, gob_lin_block});
      ahead(claim("macro-beats-gob", "gob.lin.macro beats gob.lin on Last.fm."), dataset, gob_lin_macro, {gob_lin});
    } else {
      ahead(claim("block-best", "gob.lin.block is the best of all on Delicious."), dataset, gob_lin_block,
            {linucb_sin, linucb_ind, gob_lin, gob_lin_macro});
      ahead(claim("gob-second", "gob.lin comes next on Delicious: only gob.lin.block is ahead of it."), dataset,
            gob_lin, {linucb_sin, linucb_ind, gob_lin_macro});
      ahead(claim("ind-beats-sin", "linucb-ind beats linucb-sin on Delicious."), dataset, linucb_ind, {linucb_sin});
    }

    const auto timed = [&](Policy policy) {
      const auto& outcomes = pick(dataset.entry(name(policy))).outcomes;
      return std::all_of(outcomes.begin(), outcomes.end(),
                         [](const Outcome& each) { return each.seconds.has_value(); });
    };
    if (!timed(gob_lin) || !timed(gob_lin_macro) || !timed(gob_lin_block)) return;
    Claim& time = add(fmt::format("{}-time", part_name), part_name,
                      fmt::format("Clustering saves time on {} as well.", title), "milliseconds a round");
    const auto times = [&](Policy policy) { return values(pick(dataset.entry(name(policy))), milliseconds_of); };
    for (const Policy policy : {gob_lin_macro, gob_lin_block}) {
      part(time, fmt::format("gob.lin - {}", name(policy)), minus(times(gob_lin), times(policy)));
    }
  }

  void judge_theorem(const experiment::StudyResult& result) {
    const std::string& where = result.study.title;
    const std::string& id = result.study.name;
    Claim& bound = add(id + "-theorem", "theorem",
                       fmt::format("The regret of gob.lin stays below the bound of Theorem 1 ({}).", where), "regret");
    part(bound, "bound - regret at the end, gob.lin",
         values(result.entry(name(Policy::gob_lin)).tuned(),
                [](const Outcome& each) { return each.last().regret_bound.value() - each.last().regret.value(); }));
    Claim& volume = add(id + "-volume", "theorem",
                        fmt::format("ln|M_T| of gob.lin is below that of independent bandits ({}).", where), "ln|M_T|");
    const auto volumes = [&](Policy policy) {
      return values(result.entry(name(policy)).tuned(),
                    [](const Outcome& each) { return each.last().log_determinant; });
    };
    part(volume, "linucb-ind - gob.lin", minus(volumes(Policy::linucb_ind), volumes(Policy::gob_lin)));
  }

  const Results& results_;
  Choice choice_;
  std::vector<Claim> claims_;
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::not_decided:
      break;
  }
  return "not decided";
}

const Difference& Claim::weakest() const {
  const auto strength = [](const Difference& each) {
    const double error = each.estimate.standard_error.value_or(0.0);
    return error > 0.0 ? each.estimate.mean / error : each.estimate.mean * 1e300;
  };
  return *std::min_element(differences.begin(), differences.end(),
                           [&](const Difference& a, const Difference& b) { return strength(a) < strength(b); });
}

std::optional<std::size_t> seeds_to_decide(const Difference& difference, std::size_t together) {
  const double mean = std::abs(difference.estimate.mean);
  const double error = difference.estimate.standard_error.value();
  if (difference.verdict != Verdict::not_decided || mean <= error) return std::nullopt;
  const double scatter = error * std::sqrt(static_cast<double>(difference.by_seed.size()));
  std::size_t seeds = difference.by_seed.size() + 1;
  while (experiment::student_quantile(seeds, level_of(together)) * scatter >=
         mean * std::sqrt(static_cast<double>(seeds))) {
    ++seeds;
  }
  return seeds;
}

void judge(Claim& claim) {
  if (claim.differences.empty()) throw std::invalid_argument("claim: no differences (must be at least 1)");
  const double level = level_of(claim.differences.size());
  for (Difference& each : claim.differences) {
    each.estimate = experiment::estimate(each.by_seed);
    const double margin =
        experiment::student_quantile(each.by_seed.size(), level) * each.estimate.standard_error.value();
    each.low = each.estimate.mean - margin;
    each.high = each.estimate.mean + margin;
    each.verdict = each.low > 0.0 ? Verdict::holds : each.high < 0.0 ? Verdict::does_not_hold : Verdict::not_decided;
  }
  const auto all = [&](Verdict verdict) {
    return std::all_of(claim.differences.begin(), claim.differences.end(),
                       [verdict](const Difference& each) { return each.verdict == verdict; });
  };
  const bool fails = std::any_of(claim.differences.begin(), claim.differences.end(),
                                 [](const Difference& each) { return each.verdict == Verdict::does_not_hold; });
  claim.verdict = fails ? Verdict::does_not_hold : all(Verdict::holds) ? Verdict::holds : Verdict::not_decided;
}

std::vector<Claim> judge_claims(const experiment::paper::Results& results, Choice choice) {
  return Judge(results, choice).judge_all();
}

}  // namespace goblin::report
