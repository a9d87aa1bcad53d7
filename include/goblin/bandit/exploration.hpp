#pragma once

#include "goblin/bandit/confidence.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace goblin {

/// The highest upper confidence bound: mean + alpha sqrt(variance ln(t + 1)), t one more than the rewards learned.
struct Ucb {
  double alpha = 0.1;

  [[nodiscard]] bool operator==(const Ucb&) const = default;
};

/// The highest x.w~ of one vector that is drawn for all candidates, w~ = w_i + v chol(C_i) z, z standard normal.
struct Thompson {
  double v = 0.0;  ///< the standard deviation that a unit of x^T C_i x stands for: that of a reward's noise

  [[nodiscard]] bool operator==(const Thompson&) const = default;
};

/// The highest mean.
struct Greedy {
  [[nodiscard]] bool operator==(const Greedy&) const = default;
};

/// Each of the K candidates but the best with probability 1 / (K + gamma (highest mean - its mean)), the best with the
/// rest.
struct SquareCb {
  double gamma = 0.0;

  [[nodiscard]] bool operator==(const SquareCb&) const = default;
};

/// How candidates are chosen: a rule, and how often chance decides instead of it.
///
/// Where chance has a part, it comes in with the call (Draw), and the decision says how probable it was
/// (Decision::probability). docs/exploration.md says when to use which rule.
struct Exploration {
  std::variant<Ucb, PrintedBound, Thompson, Greedy, SquareCb> rule = Ucb{};
  /// With this probability a candidate is chosen at random, each as likely as the others.
  double epsilon = 0.0;

  [[nodiscard]] static Exploration ucb(double alpha = Ucb().alpha) { return {.rule = Ucb{alpha}}; }
  [[nodiscard]] static Exploration printed_bound(const PrintedBound& bound = {}) { return {.rule = bound}; }
  [[nodiscard]] static Exploration thompson(double v) { return {.rule = Thompson{v}}; }
  [[nodiscard]] static Exploration epsilon_greedy(double epsilon) { return {.rule = Greedy{}, .epsilon = epsilon}; }
  [[nodiscard]] static Exploration greedy() { return {.rule = Greedy{}}; }
  [[nodiscard]] static Exploration square_cb(double gamma) { return {.rule = SquareCb{gamma}}; }

  /// The same, but with probability `share` a candidate is chosen at random.
  [[nodiscard]] Exploration mixed(double share) const {
    return {.rule = rule, .epsilon = epsilon == 0.0 ? share : 1.0 - (1.0 - epsilon) * (1.0 - share)};
  }
  /// Whether chance has a part, so that a decision needs a Draw.
  [[nodiscard]] bool is_random() const {
    return epsilon > 0.0 || std::holds_alternative<Thompson>(rule) || std::holds_alternative<SquareCb>(rule);
  }

  /// That of ucb; none of the other rules has one.
  [[nodiscard]] std::optional<double> alpha() const {
    const auto* ucb = std::get_if<Ucb>(&rule);
    return ucb == nullptr ? std::nullopt : std::optional(ucb->alpha);
  }

  [[nodiscard]] bool operator==(const Exploration&) const = default;
};

/// What there is to say about a rule.
struct ExplorationInfo {
  std::string_view name;
  std::string_view text;     ///< as it is written on the command line, in Python and in files
  std::string_view chooses;  ///< in a few words
};

/// The one list of rules: names, help texts and Python's functions are made from it.
inline constexpr std::array exploration_table = {
    ExplorationInfo{.name = "ucb", .text = "ucb:ALPHA", .chooses = "the highest upper confidence bound"},
    ExplorationInfo{.name = "printed_bound",
                    .text = "printed_bound:NOISE:DELTA:NORM",
                    .chooses = "the same with the widths of the paper's Figures 1 and 2"},
    ExplorationInfo{.name = "thompson",
                    .text = "thompson:V",
                    .chooses = "the best for a vector drawn from what is believed, V times as uncertain"},
    ExplorationInfo{.name = "epsilon_greedy",
                    .text = "epsilon_greedy:EPSILON",
                    .chooses = "the highest mean, with probability EPSILON any candidate"},
    ExplorationInfo{.name = "greedy", .text = "greedy", .chooses = "the highest mean"},
    ExplorationInfo{
        .name = "square_cb", .text = "square_cb:GAMMA", .chooses = "at random, candidates with lower means less often"},
};

/// "thompson:0.2", "ucb:0.1+epsilon:0.05"; exploration_named gives the same back.
[[nodiscard]] std::string name_of(const Exploration& exploration);

/// What is written as in `exploration_table`, with "+epsilon:EPSILON" after it or without. Throws std::invalid_argument
/// with all there is, or with the number that is outside its range and the bound.
[[nodiscard]] Exploration exploration_named(std::string_view text);

/// "ucb:ALPHA, ... or square_cb:GAMMA, each also with +epsilon:EPSILON", for messages and help texts.
[[nodiscard]] std::string exploration_names();

/// Throws std::invalid_argument with name, value and bound if a number is outside its range.
void check_exploration(const Exploration& exploration);

/// Where the chance in a decision comes from: a stream of its own for each (seed, decision). The same numbers, belief
/// and candidates give the same decision, in whatever order and on whatever thread.
struct Draw {
  std::uint64_t seed = 0;
  /// The number of the decision. Two decisions that share it share their luck: count, or take the number of a request.
  std::uint64_t decision = 0;
  /// How many vectors are drawn to estimate the probability of what Thompson's rule chose; 0: it is not wanted.
  std::size_t samples = 512;
  /// Whether Decision::probabilities is wanted.
  bool every_arm = false;
};

}  // namespace goblin
