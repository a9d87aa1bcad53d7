#pragma once

#include "belief/packs.hpp"

#include <cstddef>
#include <vector>

namespace goblin {

/// What conjugate gradients work on: `rows` numbers for each of eight right-hand sides, side by side in the lanes.
struct BlockCgVectors {
  std::vector<LaneRow> solution;
  std::vector<LaneRow> residual;  // the right-hand side before the solve
  std::vector<LaneRow> direction;
  std::vector<LaneRow> diagonal_direction;  // B times the direction
  std::vector<LaneRow> image;               // N times the direction, then B^{-1} residual

  /// Zero right-hand sides and a zero start.
  void reset(std::size_t rows) {
    solution.assign(rows, LaneRow{});
    residual.assign(rows, LaneRow{});
    direction.resize(rows);
    diagonal_direction.resize(rows);
    image.resize(rows);
  }
};

/// Solves (B - R) u = r by conjugate gradients preconditioned with B, for eight right-hand sides at once, until
/// the squared residuals of all of them are within their goals. It goes on from any start whose residual is known.
///
///     precondition(from, to):  to = B^{-1} from
///     multiply(p, bp, to):     to = bp - R p, where bp is B p; gives p.to
///     observe(step, turn):     is told the coefficients of each iteration, for those who want the spectrum; a lane
///     that
///                              is there has step 0
///
/// B itself is never applied: B p follows the direction p by recurrence, since B z = r for z = B^{-1} r.
template <typename Precondition, typename Multiply, typename Observe>
void block_cg(BlockCgVectors& vectors, const Lanes& goal, Precondition precondition, Multiply multiply,
              Observe observe) {
  const std::size_t rows = vectors.solution.size();
  LaneRow* const u = vectors.solution.data();
  LaneRow* const r = vectors.residual.data();
  LaneRow* const p = vectors.direction.data();
  LaneRow* const bp = vectors.diagonal_direction.data();
  LaneRow* const z = vectors.image.data();

  Lanes inner{};
  Lanes squared{};
  precondition(r, p);
  for (std::size_t k = 0; k < rows; ++k) {
    bp[k] = r[k];
    inner += r[k].values * p[k].values;
    squared += r[k].values * r[k].values;
  }
  const std::size_t most_iterations = 10 * rows + 10;
  for (std::size_t iteration = 0; iteration < most_iterations; ++iteration) {
    bool done = true;
    for (std::size_t lane = 0; lane < lane_count; ++lane) done = done && !(squared[lane] > goal[lane]);
    if (done) return;
    Lanes step = ratio(inner, multiply(p, bp, z).values);
    // One that is there waits for the others: what it finds does not depend on them.
    for (std::size_t lane = 0; lane < lane_count; ++lane) step[lane] = squared[lane] > goal[lane] ? step[lane] : 0.0;
    squared = Lanes{};
    for (std::size_t k = 0; k < rows; ++k) {
      u[k].values += step * p[k].values;
      r[k].values -= step * z[k].values;
      squared += r[k].values * r[k].values;
    }
    precondition(r, z);
    Lanes next{};
    for (std::size_t k = 0; k < rows; ++k) next += r[k].values * z[k].values;
    const Lanes turn = ratio(next, inner);
    inner = next;
    observe(step, turn);
    for (std::size_t k = 0; k < rows; ++k) {
      p[k].values = z[k].values + turn * p[k].values;
      bp[k].values = r[k].values + turn * bp[k].values;
    }
  }
}

template <typename Precondition, typename Multiply>
void block_cg(BlockCgVectors& vectors, const Lanes& goal, Precondition precondition, Multiply multiply) {
  block_cg(vectors, goal, precondition, multiply, [](const Lanes& /*step*/, const Lanes& /*turn*/) {});
}

}  // namespace goblin
