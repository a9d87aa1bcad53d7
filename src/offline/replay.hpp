#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/offline/evaluate.hpp"
#include "goblin/offline/tune.hpp"
#include "offline/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::offline {

/// What is tried, in multiples of the noise and of the coupling that predicts best. It is fixed in advance: it must not
/// depend on what came out.
struct TriedMultiples {
  double noise;
  double coupling;
};
inline constexpr std::array alphas_alone = {TriedMultiples{0.0, 1.0}, TriedMultiples{0.01, 1.0},
                                            TriedMultiples{0.1, 1.0}, TriedMultiples{0.3, 1.0},
                                            TriedMultiples{1.0, 1.0}, TriedMultiples{3.0, 1.0}};
/// The one that all others are compared with: the noise itself.
inline constexpr std::size_t noise_place = 4;
static_assert(alphas_alone[noise_place].noise == 1.0);
/// Less coupling than predicts best: who is shown what was liked before wants to know what this user liked, and a log
/// of random choices has little of that. Fewer alphas, those that are usually best.
inline constexpr std::array less_coupling = {TriedMultiples{0.01, 0.1}, TriedMultiples{0.1, 0.1},
                                             TriedMultiples{0.01, 0.03}, TriedMultiples{0.1, 0.03}};

/// Finds alpha and coupling by replay: bandits that differ in these alone go through a log side by side, and learn what
/// matches.
class AlphaReplays {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::size_t resamples = 0;
    std::size_t dimension = 0;
    std::size_t rewards = 0;  ///< of the log, about
    double work = 0.0;        ///< for each policy
  };

  AlphaReplays(const ReadRounds& read, Work& work, const Options& options)
      : read_(read), work_(work), options_(options), against_(reason_against()) {}

  /// `make(multiples)` gives the bandit of a policy. Without a coupling, only alphas are tried.
  template <typename Make>
  [[nodiscard]] AlphaReplay of(double noise, std::optional<double> coupling, const Make& make) {
    std::string against = against_;
    if (against.empty() && !(noise > 0.0)) {
      against = fmt::format("The noise is {:.4g}, and what is tried are multiples of it.", noise);
    }
    if (!against.empty()) {
      work_.tick(options_.work);
      return {.answer = ReplayAnswer::not_done, .reason = std::move(against), .tried = {}, .chosen = {}};
    }
    std::vector<Seen> seen;
    go_through(alphas_alone, coupling ? 2 : 1, make, seen);
    if (coupling) go_through(less_coupling, 2, make, seen);
    return answer_of(noise, coupling, seen);
  }

 private:
  /// Of a log that chose uniformly among as many candidates each time it is `replay`; where it did not, every decision
  /// counts as its probability says.
  static constexpr Estimator estimator = Estimator::snips;
  static constexpr double level = 0.95;
  /// Of each difference to the noise, so that all of them hold together with `level`.
  [[nodiscard]] static double difference_level(std::size_t tried) {
    return 1.0 - (1.0 - level) / static_cast<double>(tried - 1);
  }
  static constexpr std::size_t now_and_then = 16;  // rounds

  /// What is left of a bandit that went through the log.
  struct Seen {
    TriedMultiples multiples;
    Evaluated result;
    Accumulator accumulator;
  };

  /// Side by side, with memory for so many bandits as there are multiples; `passes` of these are the work of a policy.
  template <typename Make>
  void go_through(std::span<const TriedMultiples> all, std::size_t passes, const Make& make, std::vector<Seen>& seen) {
    std::vector<Evaluation> evaluations;
    for (const TriedMultiples& multiples : all) {
      evaluations.emplace_back(
          make(multiples), EvaluationOptions{.learning = Learning::matched,
                                             .seed = options_.seed,
                                             .estimates = {.resamples = options_.resamples, .seed = options_.seed}});
    }
    Block block;
    read_([&](const LoggedRound& round) {
      block.add(round);
      if (block.is_full()) judge(block, evaluations, passes);
    });
    judge(block, evaluations, passes);
    for (std::size_t k = 0; k < all.size(); ++k) {
      seen.push_back({all[k], evaluations[k].result(), evaluations[k].accumulator()});
    }
  }

  /// Rounds that wait until all bandits judge them: enough that threads are worth it, and not much memory.
  class Block {
   public:
    struct Waiting {
      LoggedRound round;
      std::size_t begin = 0;  // of its contexts
      std::size_t count = 0;
    };

    void add(const LoggedRound& round) {
      rounds_.push_back({.round = round, .begin = numbers_.size(), .count = round.contexts.size()});
      numbers_.insert(numbers_.end(), round.contexts.begin(), round.contexts.end());
    }
    [[nodiscard]] bool is_full() const {
      constexpr std::size_t most_rounds = 1000;
      constexpr std::size_t most_numbers = 1'000'000;
      return rounds_.size() >= most_rounds || numbers_.size() >= most_numbers;
    }
    [[nodiscard]] const std::vector<Waiting>& rounds() const { return rounds_; }
    [[nodiscard]] std::span<const double> contexts(const Waiting& each) const {
      return std::span(numbers_).subspan(each.begin, each.count);
    }
    void clear() {
      rounds_.clear();
      numbers_.clear();
    }

   private:
    std::vector<Waiting> rounds_;
    std::vector<double> numbers_;
  };

  /// Why the log does not allow a replay, in a sentence; nothing where it does.
  [[nodiscard]] std::string reason_against() {
    std::size_t rounds = 0;
    std::size_t decisions = 0;
    std::size_t unknown = 0;
    std::size_t choices = 0;
    read_([&](const LoggedRound& round) {
      if (++rounds % now_and_then == 0) work_.tick(0.0);
      if (!round.is_decision) return;
      ++decisions;
      if (!round.probability) ++unknown;
      if (round.contexts.size() > options_.dimension) ++choices;
    });
    if (decisions == 0) {
      return "The log has no decisions: it does not say what else could have been shown (contexts or items, with the "
             "action).";
    }
    if (unknown > 0) {
      return fmt::format(
          "{} of {} decisions have no probability: that with which the log chose what it showed. It has to be logged; "
          "if every candidate was as probable as the others, say that the log is uniform.",
          unknown, decisions);
    }
    if (choices == 0) return "No decision of the log has two candidates: there was nothing to choose.";
    return {};
  }

  void judge(Block& block, std::vector<Evaluation>& evaluations, std::size_t passes) {
    struct Failure {
      std::size_t round = std::numeric_limits<std::size_t>::max();
      std::string reason;
    };
    std::vector<Failure> failures(evaluations.size());
    work_.run(evaluations.size(), [&](std::size_t k) {
      for (std::size_t at = 0; at < block.rounds().size(); ++at) {
        if (at % now_and_then == 0) work_.tick(0.0);
        try {
          judge(block.rounds()[at], block, evaluations[k]);
        } catch (const CapacityError&) {
          throw;  // memory is not the log's fault
        } catch (const std::invalid_argument& error) {
          failures[k] = {at, error.what()};
          return;
        }
      }
    });
    const auto first = std::min_element(failures.begin(), failures.end(),
                                        [](const Failure& a, const Failure& b) { return a.round < b.round; });
    if (!first->reason.empty()) throw BadRound(block.rounds()[first->round].round.place, first->reason);
    work_.tick(options_.work * static_cast<double>(block.rounds().size()) /
               static_cast<double>(passes * std::max<std::size_t>(1, options_.rewards)));
    block.clear();
  }
  static void judge(const Block::Waiting& each, const Block& block, Evaluation& evaluation) {
    const LoggedRound& round = each.round;
    if (!round.is_decision) {
      evaluation.add_reward(round.user, round.user, block.contexts(each), round.reward);
      return;
    }
    evaluation.add(round.user, round.user,
                   {.contexts = block.contexts(each),
                    .action = round.action,
                    .reward = round.reward,
                    .probability = round.probability.value_or(0.0)});
  }

  [[nodiscard]] static Gain gain_of(const Value& value) {
    return {.mean = value.value, .low = value.interval.low, .high = value.interval.high};
  }
  [[nodiscard]] static std::string words_of(const Gain& gain) {
    return fmt::format("{:.3g} ({:.3g} to {:.3g})", gain.mean, gain.low, gain.high);
  }

  [[nodiscard]] static AlphaReplay answer_of(double noise, std::optional<double> coupling,
                                             const std::vector<Seen>& seen) {
    AlphaReplay replay;
    for (const Seen& one : seen) {
      const Summary& summary = one.result.summary;
      replay.tried.push_back({.of_noise = one.multiples.noise,
                              .alpha = one.multiples.noise * noise,
                              .of_coupling = one.multiples.coupling,
                              .coupling = coupling ? std::optional(one.multiples.coupling * *coupling) : std::nullopt,
                              .value = gain_of(summary.estimates[static_cast<std::size_t>(estimator)].value),
                              .gain = gain_of(one.accumulator.more_than(seen[noise_place].accumulator, estimator,
                                                                        difference_level(seen.size()))),
                              .matched = summary.diagnostics.matched,
                              .effective_sample_size = summary.diagnostics.effective_sample_size,
                              .trusted = one.result.decidable});
    }
    const TriedAlpha& of_noise = replay.tried[noise_place];
    replay.chosen = noise_place;
    if (!of_noise.trusted) {
      replay.reason = distrust_of(seen[noise_place].result.summary.diagnostics);
      return replay;
    }
    std::optional<std::size_t> best;
    std::size_t worse = 0;
    for (std::size_t k = 0; k < replay.tried.size(); ++k) {
      const TriedAlpha& tried = replay.tried[k];
      if (k == noise_place) continue;
      if (tried.trusted && tried.gain.high < 0.0) ++worse;
      if (!tried.trusted || !(tried.gain.low > 0.0)) continue;
      // Of several that would have done the same, the one that is nearest to the noise.
      const bool as_good = best && tried.value.mean == replay.tried[*best].value.mean &&
                           tried.of_coupling == replay.tried[*best].of_coupling && tried.of_noise < 1.0;
      if (!best || as_good || tried.value.mean > replay.tried[*best].value.mean) best = k;
    }
    if (best) {
      replay.answer = ReplayAnswer::another;
      replay.chosen = best;
      replay.reason = why_another(replay.tried, *best, seen);
    } else if (worse + 1 == replay.tried.size()) {
      replay.answer = ReplayAnswer::noise;
      replay.reason = fmt::format("The noise, {:.4g}, earns clearly more than all others: {:.3g} a decision.", noise,
                                  of_noise.value.mean);
    } else {
      replay.answer = ReplayAnswer::not_decided;
      replay.reason =
          fmt::format("{}: the noise, {:.4g}, stays.",
                      std::isnan(of_noise.value.low) ? "All decisions are of one user, so that there are no intervals"
                      : coupling ? "No alpha earns clearly more than the noise, with this coupling or less"
                                 : "No alpha earns clearly more than the noise",
                      noise);
    }
    return replay;
  }

  [[nodiscard]] static std::string name_of(const TriedAlpha& tried) {
    return tried.of_coupling == 1.0 ? fmt::format("{:.4g}", tried.alpha)
                                    : fmt::format("{:.4g} with coupling {:.4g}", tried.alpha, *tried.coupling);
  }
  [[nodiscard]] static std::string why_another(const std::vector<TriedAlpha>& tried, std::size_t best,
                                               const std::vector<Seen>& seen) {
    const TriedAlpha& taken = tried[best];
    std::string reason = fmt::format(
        "{}, that is {}{}, earns clearly more than the noise: {:.3g} a decision against {:.3g}, a difference of {}.",
        name_of(taken),
        taken.of_noise == 0.0 ? std::string("not to explore at all")
                              : fmt::format("{:g} times the noise", taken.of_noise),
        taken.of_coupling == 1.0 ? std::string()
                                 : fmt::format(" and {:g} times the coupling that predicts best", taken.of_coupling),
        taken.value.mean, tried[noise_place].value.mean, words_of(taken.gain));
    std::vector<std::string> alike;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      if (k == best || k == noise_place) continue;
      const Value difference =
          seen[best].accumulator.more_than(seen[k].accumulator, estimator, difference_level(seen.size()));
      if (!(difference.interval.low > 0.0)) alike.push_back(name_of(tried[k]));
    }
    if (!alike.empty()) reason += fmt::format(" Between it and {} it is not decided.", fmt::join(alike, ", "));
    return reason;
  }

  /// Why the estimate with the noise as alpha is not to be trusted.
  [[nodiscard]] static std::string distrust_of(const Diagnostics& found) {
    if (found.effective_sample_size < fewest_decisions) {
      return fmt::format(
          "In {} of {} decisions the policy would have shown the same, which count like {:.0f} (effective sample size, "
          "must be at least {:.0f}): too few.",
          found.matched, found.decisions, found.effective_sample_size, fewest_decisions);
    }
    return fmt::format(
        "The mean weight of a decision is {:.3f} ± {:.3f} and should be 1: {}.", found.mean_weight,
        found.mean_weight_error.value_or(0.0),
        found.mean_weight < 1.0
            ? "the log could not have shown what the policy would have, or its probabilities are too high"
            : "the log's probabilities are lower than those that it chose with");
  }

  const ReadRounds& read_;
  Work& work_;
  Options options_;
  std::string against_;
};

}  // namespace goblin::offline
