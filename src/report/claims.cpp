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

/// What a claim that nothing changes allows: a change by so much of the reward.
constexpr double unchanged = 0.05;
/// "Always" along a curve: ahead in at least so much of the rounds that count.
constexpr double always = 0.95;

/// The share of the recorded rounds after the first tenth in which a's sum of rewards is above b's.
double share_ahead(const Outcome& a, const Outcome& b) {
  std::size_t counted = 0;
  std::size_t ahead = 0;
  for (std::size_t k = 0; k < a.curve.size(); ++k) {
    if (10 * a.curve[k].round <= a.last().round) continue;
    ++counted;
    if (a.curve[k].normalized_reward() > b.curve[k].normalized_reward()) ++ahead;
  }
  return static_cast<double>(ahead) / static_cast<double>(counted);
}

/// Collects the claims of one way of choosing.
class Judge {
 public:
  explicit Judge(Choice choice) : choice_(choice) {}

  void add_all(const Results& results) {
    if (!results.grid.empty()) judge_grid(results.grid);
    add_datasets(results.datasets);
    for (const auto& theorem : results.theorem) judge_theorem(theorem);
  }

  void add_datasets(const std::vector<DatasetResult>& datasets) {
    for (const DatasetResult& dataset : datasets) judge_dataset(dataset);
  }

  std::vector<Claim> judged() {
    for (Claim& claim : claims_) judge(claim);
    return std::move(claims_);
  }

 private:
  [[nodiscard]] const Finalist& pick(const Entry& entry) const {
    return choice_ == Choice::tuned ? entry.tuned() : entry.hindsight();
  }

  /// Of a policy on a data set: of several readings of "cluster sizes" the one that did best on the seeds that the
  /// choice goes by.
  [[nodiscard]] const Finalist& pick(const DatasetResult& dataset, Policy policy) const {
    const Entry& tuned = dataset.entry(name(policy));
    if (choice_ == Choice::tuned) return tuned.tuned();
    const Finalist* best = &tuned.hindsight();
    for (const Entry& each : dataset.result.entries) {
      if (each.tuned().setting.policy != policy) continue;
      if (each.hindsight().estimate().mean > best->estimate().mean) best = &each.hindsight();
    }
    return *best;
  }

  Claim& add(std::string id, std::string part, std::string text, std::string unit) {
    claims_.push_back({.id = std::move(id),
                       .part = std::move(part),
                       .text = std::move(text),
                       .unit = std::move(unit),
                       .differences = {}});
    return claims_.back();
  }

  static Difference& part(Claim& claim, std::string label, std::vector<double> by_seed) {
    claim.differences.push_back({.label = std::move(label), .by_seed = std::move(by_seed), .estimate = {}});
    return claim.differences.back();
  }

  [[nodiscard]] std::vector<double> rewards(const GridResult& at, Policy policy) const {
    return values(pick(at.result.entry(name(policy))), reward_of);
  }

  static const GridResult& grid_at(const std::vector<GridResult>& grid, double graph_noise, double payoff_noise) {
    for (const GridResult& each : grid) {
      if (each.graph_noise == graph_noise && each.payoff_noise == payoff_noise) return each;
    }
    throw std::logic_error("no such world in the grid");
  }

  /// One part for each pair and each level of graph noise: under the most payoff noise, the policy keeps a larger share
  /// of its noiseless reward.
  void keeps_more(Claim& claim, const std::vector<GridResult>& grid, Policy policy,
                  std::initializer_list<Policy> others) const {
    const double most = grid.back().payoff_noise;
    for (const GridResult& noisy : grid) {
      if (noisy.payoff_noise != most) continue;
      const GridResult& quiet = grid_at(grid, noisy.graph_noise, 0.0);
      const auto kept = [&](Policy each) { return ratio(rewards(noisy, each), rewards(quiet, each)); };
      for (const Policy other : others) {
        part(claim,
             fmt::format("{} - {}, payoff noise {} against 0, graph noise {}", name(policy), name(other), most,
                         noisy.graph_noise),
             minus(kept(policy), kept(other)));
      }
    }
  }

  void judge_grid(const std::vector<GridResult>& grid) {
    using enum Policy;
    constexpr const char* kept_unit = "share of the noiseless reward that is kept";
    Claim& body = add("payoff-noise", "4cliques",
                      "gob.lin and linucb-sin are more robust to payoff noise than linucb-ind.", kept_unit);
    keeps_more(body, grid, gob_lin, {linucb_ind});
    keeps_more(body, grid, linucb_sin, {linucb_ind});
    Claim& caption = add("payoff-noise-caption", "4cliques",
                         "gob.lin is clearly more robust to payoff noise than its competitors.", kept_unit);
    keeps_more(caption, grid, gob_lin, {linucb_sin, linucb_ind});

    Claim& unaffected = add("sin-unaffected", "4cliques", "linucb-sin is unaffected by graph noise.",
                            "5 % of the reward minus the change, normalized reward");
    for (const GridResult& at : grid) {
      if (at.graph_noise == 0.0) continue;
      const auto quiet = rewards(grid_at(grid, 0.0, at.payoff_noise), linucb_sin);
      auto room = rewards(at, linucb_sin);
      for (std::size_t k = 0; k < room.size(); ++k) {
        room[k] = unchanged * std::abs(quiet[k]) - std::abs(room[k] - quiet[k]);
      }
      part(unaffected,
           fmt::format("linucb-sin at graph noise {} against 0, payoff noise {}", at.graph_noise, at.payoff_noise),
           std::move(room));
    }

    Claim& never = add("sin-never-ahead", "4cliques", "linucb-sin never outperforms gob.lin.", reward_unit);
    for (const GridResult& at : grid) {
      part(never, fmt::format("gob.lin - linucb-sin, graph noise {}, payoff noise {}", at.graph_noise, at.payoff_noise),
           minus(rewards(at, gob_lin), rewards(at, linucb_sin)));
    }

    Claim& degrades = add("graph-noise", "4cliques",
                          "When payoff noise is low and graph noise grows, gob.lin tends to degrade.", reward_unit);
    degrades.tendency = true;
    const GridResult* before = nullptr;
    for (const GridResult& at : grid) {
      if (at.payoff_noise != 0.0) continue;
      if (before != nullptr) {
        part(degrades,
             fmt::format("gob.lin at graph noise {} - at {}, payoff noise 0", before->graph_noise, at.graph_noise),
             minus(rewards(*before, gob_lin), rewards(at, gob_lin)));
      }
      before = &at;
    }
    Claim& sensitive =
        add("graph-noise-caption", "4cliques", "gob.lin is sensitive to high levels of graph noise.", reward_unit);
    for (const GridResult& at : grid) {
      if (at.graph_noise != grid.back().graph_noise) continue;
      part(sensitive, fmt::format("gob.lin at graph noise 0 - at {}, payoff noise {}", at.graph_noise, at.payoff_noise),
           minus(rewards(grid_at(grid, 0.0, at.payoff_noise), gob_lin), rewards(at, gob_lin)));
    }
  }

  /// One part for each pair: the policy is ahead of the other.
  void ahead(Claim& claim, const DatasetResult& dataset, Policy policy, std::initializer_list<Policy> others) const {
    for (const Policy other : others) {
      part(claim, fmt::format("{} - {}", name(policy), name(other)),
           minus(values(pick(dataset, policy), reward_of), values(pick(dataset, other), reward_of)));
    }
  }

  /// One part for each pair: the policy is ahead in nearly all rounds after the first tenth.
  void always_ahead(Claim& claim, const DatasetResult& dataset, Policy policy,
                    std::initializer_list<Policy> others) const {
    const auto& outcomes = pick(dataset, policy).outcomes;
    for (const Policy other : others) {
      const auto& theirs = pick(dataset, other).outcomes;
      std::vector<double> shares;
      for (std::size_t k = 0; k < outcomes.size(); ++k) shares.push_back(share_ahead(outcomes[k], theirs[k]) - always);
      part(claim, fmt::format("{} ahead of {}", name(policy), name(other)), std::move(shares));
    }
  }

  /// The contender with clusters that did best on the seeds that the choice goes by.
  [[nodiscard]] const Entry& best_clustered(const DatasetResult& dataset) const {
    const Entry* best = nullptr;
    const auto score = [&](const Entry& entry) {
      return choice_ == Choice::tuned ? entry.tuned().tuning.value_or(entry.tuned().estimate().mean)
                                      : entry.hindsight().estimate().mean;
    };
    for (const Entry& entry : dataset.result.entries) {
      if (!uses_clusters(entry.tuned().setting.policy)) continue;
      if (best == nullptr || score(entry) > score(*best)) best = &entry;
    }
    return *best;
  }

  void judge_dataset(const DatasetResult& dataset) {
    using enum Policy;
    const std::string& part_name = dataset.result.study.name;
    const std::string& title = dataset.result.study.title;
    const bool lastfm = part_name == "lastfm";
    const auto claim = [&](const char* id, const std::string& text, const char* unit = reward_unit) -> Claim& {
      return add(fmt::format("{}-{}", part_name, id), part_name, text, unit);
    };

    Claim& outperform = claim(
        "graph-helps", fmt::format("On {}, gob.lin and its variants outperform the baselines at the end.", title));
    for (const Policy policy : {gob_lin, gob_lin_macro, gob_lin_block}) {
      ahead(outperform, dataset, policy, {linucb_sin, linucb_ind});
    }
    Claim& along = claim("graph-always-helps",
                         fmt::format("On {}, gob.lin and its variants always outperform the baselines.", title),
                         "share of the rounds after the first tenth in which it is ahead, minus 0.95");
    for (const Policy policy : {gob_lin, gob_lin_macro, gob_lin_block}) {
      always_ahead(along, dataset, policy, {linucb_sin, linucb_ind});
    }
    if (lastfm) {
      ahead(claim("macro-best", "gob.lin.macro works best on Last.fm."), dataset, gob_lin_macro,
            {linucb_sin, linucb_ind, gob_lin, gob_lin_block});
      ahead(claim("macro-beats-sin", "On Last.fm, gob.lin.macro is better than its baseline linucb-sin."), dataset,
            gob_lin_macro, {linucb_sin});
      ahead(claim("macro-beats-gob", "On Last.fm, gob.lin.macro also outperforms gob.lin."), dataset, gob_lin_macro,
            {gob_lin});
      ahead(claim("sin-competitive", "On Last.fm, linucb-sin is the competitive baseline: ahead of linucb-ind."),
            dataset, linucb_sin, {linucb_ind});
    } else {
      Claim& best = claim("block-best", "On Delicious, gob.lin.block tends to perform best.");
      best.tendency = true;
      ahead(best, dataset, gob_lin_block, {linucb_sin, linucb_ind, gob_lin, gob_lin_macro});
      Claim& second = claim("gob-second",
                            "On Delicious, gob.lin is the runner-up: ahead of all but gob.lin.block, and not ahead of "
                            "that by 5 %.");
      ahead(second, dataset, gob_lin, {linucb_sin, linucb_ind, gob_lin_macro});
      auto room = minus(values(pick(dataset, gob_lin_block), reward_of), values(pick(dataset, gob_lin), reward_of));
      const auto theirs = values(pick(dataset, gob_lin), reward_of);
      for (std::size_t k = 0; k < room.size(); ++k) room[k] += unchanged * std::abs(theirs[k]);
      part(second, "gob.lin.block and 5 % of gob.lin - gob.lin", std::move(room));
      ahead(claim("ind-beats-sin", "On Delicious, linucb-ind works better than linucb-sin."), dataset, linucb_ind,
            {linucb_sin});
    }
    Claim& regularizes = claim("clusters-help", fmt::format("On {}, graph clustering helps: the best clustered variant "
                                                            "beats gob.lin.",
                                                            title));
    const Entry& best = best_clustered(dataset);
    part(regularizes, fmt::format("{} - gob.lin", best.name),
         minus(values(pick(best), reward_of), values(pick(dataset, gob_lin), reward_of)));
    judge_time(dataset);
  }

  /// How long a round takes, if that is known of all: whichever way of choosing, the claims are the same.
  void judge_time(const DatasetResult& dataset) {
    using enum Policy;
    const std::string& part_name = dataset.result.study.name;
    const std::string& title = dataset.result.study.title;
    for (const Entry& entry : dataset.result.entries) {
      for (const Finalist& finalist : entry.finalists) {
        if (!std::ranges::all_of(finalist.outcomes, [](const Outcome& each) { return each.seconds.has_value(); }))
          return;
      }
    }
    const auto times = [&](Policy policy) { return values(pick(dataset, policy), milliseconds_of); };
    Claim& time = add(fmt::format("{}-time", part_name), part_name, fmt::format("Clustering saves time on {}.", title),
                      "milliseconds a round");
    for (const Policy policy : {gob_lin_macro, gob_lin_block}) {
      part(time, fmt::format("gob.lin - {}", name(policy)), minus(times(gob_lin), times(policy)));
    }
    Claim& quadratic = add(fmt::format("{}-savings", part_name), part_name,
                           fmt::format("The savings by clustering are quadratic on {}.", title),
                           "times as fast as gob.lin, minus what is quadratic");
    for (const Policy policy : {gob_lin_macro, gob_lin_block}) {
      const auto& grouping = pick(dataset, policy).setting.grouping;
      const auto users = static_cast<double>(dataset.users);
      const double clusters = grouping.clusters > 0 ? static_cast<double>(grouping.clusters)
                                                    : std::ceil(users / static_cast<double>(grouping.cluster_size));
      // macro has a node for each cluster; a round of block has to do with the users of one cluster.
      const double nodes = policy == gob_lin_macro ? clusters : users / clusters;
      const double expected = std::pow(users / nodes, 2);
      auto savings = ratio(times(gob_lin), times(policy));
      const double mean = experiment::estimate(savings).mean;
      for (double& each : savings) each -= expected;
      part(quadratic,
           fmt::format("{}: {:.3g} times as fast; (n / nodes)^2 = ({:.0f} / {:.0f})^2 = {:.0f}", name(policy), mean,
                       users, nodes, expected),
           std::move(savings));
    }
  }

  void judge_theorem(const experiment::StudyResult& result) {
    const std::string& where = result.study.title;
    const std::string& id = result.study.name;
    const Finalist& printed = result.entry(name(Policy::gob_lin)).tuned();
    Claim& bound = add(id + "-theorem", "theorem",
                       fmt::format("The regret of gob.lin stays below the bound of Theorem 1 ({}).", where), "regret");
    part(bound, "bound - regret at the end, gob.lin", values(printed, [](const Outcome& each) {
           return each.last().regret_bound.value() - each.last().regret.value();
         }));

    const auto volumes = [&](Policy policy) {
      return values(result.entry(name(policy)).tuned(),
                    [](const Outcome& each) { return each.last().log_determinant; });
    };
    auto times_smaller = ratio(volumes(Policy::linucb_ind), volumes(Policy::gob_lin));
    const double mean = experiment::estimate(times_smaller).mean;
    for (double& each : times_smaller) each -= 1.0;
    Claim& volume = add(id + "-volume", "theorem",
                        fmt::format("ln|M_T| of gob.lin is smaller than that of independent bandits, on dense graphs "
                                    "by up to a factor n ({}).",
                                    where),
                        "ratio of ln|M_T|, minus 1");
    part(volume, fmt::format("linucb-ind / gob.lin: {:.3g} times", mean), std::move(times_smaller));

    Claim& width = add(id + "-width", "theorem",
                       fmt::format("The simplified width does not affect the predictive performance ({}).", where),
                       "5 % of the reward with the printed width minus what the simplified one costs");
    auto room = values(printed, reward_of);
    const auto simplified = values(pick(result.entry(experiment::paper::simplified_width)), reward_of);
    for (std::size_t k = 0; k < room.size(); ++k) {
      room[k] = unchanged * std::abs(room[k]) - (room[k] - simplified[k]);
    }
    part(width, "gob.lin, simplified width against printed", std::move(room));
  }

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
  const auto rank = [](const Difference& each) {
    return each.verdict == Verdict::does_not_hold ? 0 : each.verdict == Verdict::not_decided ? 1 : 2;
  };
  return *std::min_element(differences.begin(), differences.end(), [&](const Difference& a, const Difference& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : strength(a) < strength(b);
  });
}

std::string_view verdict_of(const Claim& claim) {
  if (!claim.tendency || claim.verdict == Verdict::not_decided) return name_of(claim.verdict);
  return claim.verdict == Verdict::holds ? "tends to" : "does not tend to";
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
  Judge all(choice);
  all.add_all(results);
  return all.judged();
}

std::vector<ReadingClaims> judge_readings(const experiment::paper::Results& results) {
  std::vector<ReadingClaims> readings;
  // Only the first reading has balanced clusters. Without them all are judged by the same contenders.
  std::vector<DatasetResult> first = results.datasets;
  for (DatasetResult& dataset : first) {
    std::erase_if(dataset.result.entries, [](const auto& entry) { return entry.tuned().setting.grouping.balanced; });
  }
  const auto add = [&](const std::string& reading, const std::vector<DatasetResult>& datasets) {
    Judge all(Choice::tuned);
    all.add_datasets(datasets);
    readings.push_back({.name = reading, .claims = all.judged()});
  };
  add(results.plan.options.reading, first);
  for (const auto& other : results.others) add(other.name, other.datasets);
  return readings;
}

Spread spread_of(const std::vector<ReadingClaims>& readings, std::string_view claim) {
  std::size_t holds = 0;
  for (const ReadingClaims& reading : readings) {
    for (const Claim& each : reading.claims) {
      if (each.id == claim && each.verdict == Verdict::holds) ++holds;
    }
  }
  return holds == readings.size() ? Spread::every : holds > 0 ? Spread::some : Spread::none;
}

}  // namespace goblin::report
