#pragma once

#include <cmath>
#include <cstdint>

namespace goblin {

/// How far apart the numbers are that a random stream scrambles.
inline constexpr std::uint64_t scramble_step = 0x9E3779B97F4A7C15U;

/// A number every bit of which depends on every bit of the given one: a step of SplitMix64.
[[nodiscard]] constexpr std::uint64_t scrambled(std::uint64_t number) {
  number += scramble_step;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

/// A random stream keyed by (seed, repetition, round): the same key gives the same numbers on every machine, in any
/// order of rounds and on any number of threads. SplitMix64 steps from a state that mixes the three parts of the key.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t repetition = 0, std::uint64_t round = 0)
      : state_(scrambled(scrambled(scrambled(seed) + repetition) + round)) {}

  std::uint64_t bits() {
    const std::uint64_t result = scrambled(state_);
    state_ += scramble_step;
    return result;
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  /// As fma, so that the last bit does not depend on whether the compiler makes one of it.
  double uniform(double low, double high) { return std::fma(high - low, uniform(), low); }

  /// Uniform in {0, ..., bound - 1} without bias, by rejection; bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t value = bits();
      if (value >= rejected) return value % bound;
    }
  }

  /// Standard normal, by Box and Muller: sqrt(-2 ln(1 - u)) cos(2 pi v), u and v uniform. The logarithm and the cosine
  /// are goblin's own, because the last bit of those in the C library depends on the library.
  double normal();

  /// How many draws that each succeed with this probability (above 0, at most 1) fail before the first that does:
  /// floor(ln(1 - u) / ln(1 - probability)), u uniform.
  std::uint64_t failures(double probability);

 private:
  std::uint64_t state_;
};

/// ln(x) of a positive normal number, the same to the last bit on every machine.
[[nodiscard]] double reproducible_log(double x);

}  // namespace goblin
