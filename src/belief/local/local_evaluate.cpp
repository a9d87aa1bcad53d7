// What decisions ask: means and variances around a node, with bounds.

#include "belief/local/local_engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Lengths rounded up to powers of two, with some play around 1: the exponent.
int length_class(double length) { return static_cast<int>(std::ceil(std::log2(length / 1.05))); }

}  // namespace

/// to = B p - coupling W p inside S. Gives p.to.
LaneRow LocalEngine::multiply_near(const Workspace& work, std::size_t dimension, const LaneRow* p, const LaneRow* bp,
                                   LaneRow* to) const {
  Lanes product{};
  for (std::size_t j = 0; j < work.near.nodes().size(); ++j) {
    const auto links = work.near.links(j);
    // Some of a node's numbers at a time, so that their sums stay in registers.
    const auto sum_up = [&]<std::size_t Count>(std::size_t first, std::integral_constant<std::size_t, Count>) {
      Lanes sums[Count];
      for (std::size_t k = 0; k < Count; ++k) sums[k] = bp[j * dimension + first + k].values;
      for (const auto& link : links) {
        const double factor = prior_.coupling() * link.weight;
        const LaneRow* const other = p + link.to * dimension + first;
        for (std::size_t k = 0; k < Count; ++k) sums[k] -= factor * other[k].values;
      }
      for (std::size_t k = 0; k < Count; ++k) {
        to[j * dimension + first + k].values = sums[k];
        product += p[j * dimension + first + k].values * sums[k];
      }
    };
    std::size_t first = 0;
    for (; first + 8 <= dimension; first += 8) sum_up(first, std::integral_constant<std::size_t, 8>{});
    for (; first < dimension; ++first) sum_up(first, std::integral_constant<std::size_t, 1>{});
  }
  return {product};
}

/// Solves N_SS u = residual for eight right-hand sides, or A_SS u = residual (dimension 1) where evidence is left out.
void LocalEngine::solve_near(Workspace& work, std::size_t dimension, const Lanes& goal, bool with_evidence) const {
  const auto nodes = work.near.nodes();
  const auto precondition = [&](const LaneRow* from, LaneRow* to) {
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      if (with_evidence) {
        nodes_.apply_inverse(nodes[j], diagonal_[nodes[j]], from + j * dimension, to + j * dimension);
      } else {
        to[j] = (1.0 / diagonal_[nodes[j]]) * from[j];
      }
    }
  };
  const auto multiply = [&](const LaneRow* p, const LaneRow* bp, LaneRow* to) {
    return multiply_near(work, dimension, p, bp, to);
  };
  block_cg(work.vectors, goal, precondition, multiply);
}

/// A first guess for N_SS u = phi_i(x), x being the first d rows of the residual. Without the evidence of others u_k
/// would be g_k / g_i a with a = (I / g_i + S_i)^{-1} x, and what a node knows itself makes that A_kk B_k^{-1} as much.
/// It costs an iteration and saves most of them.
void LocalEngine::guess_near(Workspace& work) const {
  constexpr std::size_t terms = 4;
  const std::size_t d = dimension_;
  const auto nodes = work.near.nodes();
  const auto values = work.near.values();
  LaneRow* const x = work.vectors.residual.data();
  LaneRow* const u = work.vectors.solution.data();
  LaneRow* const bu = work.vectors.diagonal_direction.data();  // B u
  LaneRow* const image = work.vectors.image.data();
  const double excess = diagonal_[nodes[0]] - 1.0 / values[0];
  for (std::size_t term = 0; term < terms; ++term) {
    for (std::size_t k = 0; k < d; ++k) bu[k].values = x[k].values + excess * u[k].values;
    nodes_.apply_inverse(nodes[0], diagonal_[nodes[0]], bu, u);
  }
  for (std::size_t j = 1; j < nodes.size(); ++j) {
    const double diagonal = diagonal_[nodes[j]];
    for (std::size_t k = 0; k < d; ++k) bu[j * d + k] = (diagonal * values[j] / values[0]) * u[k];
    nodes_.apply_inverse(nodes[j], diagonal, bu + j * d, u + j * d);
  }
  multiply_near(work, d, u, bu, image);
  for (std::size_t k = 0; k < nodes.size() * d; ++k) x[k].values -= image[k].values;
}

/// Walks around a node, as far as contexts of that length ask for. What a reward is learned for was mostly a candidate
/// just before, and the walk is still there.
void LocalEngine::walk(Workspace& work, NodeId node, double longest) const {
  const double tolerance = 0.5 * options_.tolerance / std::exp2(length_class(longest));
  if (work.walked_from == node && work.walked_tolerance == tolerance && work.walked_prior == prior_changes_) return;
  const std::size_t enough_edges = std::max<std::size_t>(16 * options_.most_nodes, 256);
  work.near.walk(near_prior(), std::span(&node, 1), tolerance, enough_edges, 4 * enough_edges);
  work.walked_from = node;
  work.walked_tolerance = tolerance;
  work.walked_prior = prior_changes_;
}

/// 1 / (A^{-1})_ii from below, for contexts of typical length. A decision's walk knows it from above nearly as well as
/// it is known at all; from below it takes five times as many edges. So it is found once, and kept until an edge
/// changes. By a walk of its own: going on from that of the decision would find another number for other candidates.
double LocalEngine::kept_precision(Workspace& work, NodeId node) const {
  const int length = std::clamp(length_class(length_), -100, 100);
  const auto found_for = static_cast<std::uint32_t>(prior_changes_ << 8U | static_cast<std::size_t>(length + 128));
  if (const double known = kept_precisions_.find(node, found_for); known > 0.0) return known;
  const std::size_t most_edges = std::max<std::size_t>(512 * options_.most_nodes, 4096);
  const double tolerance = 0.3 * options_.tolerance / std::exp2(length);
  work.near.walk(near_prior(), std::span(&node, 1), tolerance, most_edges, most_edges);
  work.walked_from = none;
  return kept_precisions_.keep(node, found_for, 1.0 / work.near.upper());
}

/// After a walk. Leaves the nodes with evidence in work.evidence.
LocalEngine::NodePrecision LocalEngine::look_around(Workspace& work, NodeId node) const {
  const double own_value = work.near.entry(0).value;
  NodePrecision result{
      .low = 1.0 / work.near.upper(),
      .high = own_value > 0.0 ? work.near.energy() / (own_value * own_value) : std::numeric_limits<double>::infinity(),
      .others = 0.0,
      .near_residual = 0.0};
  auto& near = work.evidence;
  near.clear();
  double outside = barrier_.height(node);  // the sum of (A^{-1} - v)_ik slope_k
  auto& pushed = work.pushed;
  pushed.clear();
  for (std::size_t at = 0; at < work.near.entry_count(); ++at) {
    const auto entry = work.near.entry(at);
    if (entry.value == 0.0) continue;
    outside -= entry.value * barrier_.slope(entry.node);
    const NodeId slot = nodes_.find(entry.node);
    if (slot == none) continue;
    queue_.prefetch(slot);
    pushed.emplace_back(slot, entry);
  }
  for (const auto& [slot, entry] : pushed) {
    result.near_residual += entry.value * std::sqrt(queue_.squared_residual(slot));
    const double share = nodes_.evidence_share(slot);
    if (share == 0.0 || entry.node == node) continue;
    const double ratio = entry.value / own_value;
    const double diagonal = diagonal_[entry.node];
    const double first = 1.0 + 2.0 * entry.residual / (entry.value * diagonal);
    const double weight = ratio * ratio * diagonal;
    near.push_back({entry.node, weight, first, weight * share * (first + share)});
    result.others += near.back().at_most;
  }
  result.near_residual += std::max(0.0, outside) * residual_bound_;
  return result;
}

/// The cheap way: with the evidence of the node itself, and no more than a bound of what that of others can add.
///
/// The precision of node i, C_i^{-1}, is 1 / (A^{-1})_ii I + S_i + what the evidence of other nodes adds. That is not
/// negative, and as x^T C_i x >= 2 x.u_i - u^T N u for every u, one u has to be found for which it is small. With the
/// approximate v of the walk, of energy v^T A v, take u_k = (v_k / v_i) A_kk B_k^{-1} a; then, F_k = I / A_kk -
/// B_k^{-1},
///
///     u^T N u  <=  (v^T A v / v_i^2) |a|^2 + a^T S_i a
///                  + sum over k of (v_k / v_i)^2 A_kk^2 [(1 + 2 residual_k / (v_k A_kk)) a.F_k a + A_kk |F_k a|^2].
///
/// So both ends are known from `low` = 1 / upper of the walk and `high` = v^T A v / v_i^2. a = (low I + S_i)^{-1} x is
/// the best choice. With B_i^{-1} at hand and excess = A_ii - low it is the sum of excess^m B_i^{-(m + 1)} x, which is
/// cut off; what is cut off is known, too. Nodes whose evidence adds little are counted with |a|^2 and evidence_share.
///
/// Means: as below, with S = {i}. Gives false where the evidence of others matters too much, and where the walk is far
/// from its goal in a component of up to `most_nodes`, which can be known whole. O(walk) + O(d^2) a context.
bool LocalEngine::evaluate_alone(Workspace& work, NodeId node, std::span<const double> contexts,
                                 std::span<const std::uint8_t> allowed, double longest, std::size_t most_nodes,
                                 const Evaluation& out) const {
  constexpr std::size_t most_terms = 12;
  if (is_small()) return false;
  walk(work, node, longest);
  const std::size_t d = dimension_;
  auto [low, high, rest, near_residual] = look_around(work, node);
  const auto& near = work.evidence;
  const bool decided_well = is_decided_well(node, most_nodes);
  if (decided_well) low = std::max(low, kept_precision(work, node));
  high = std::max(high, low);

  // Where the precision is known within `enough`, standard deviations are within the tolerance.
  const double enough = 2.0 * options_.tolerance * low * std::sqrt(low) / longest;
  if (high - low > too_many_tolerances * enough && node_count() <= most_nodes) return false;
  double enough_for_others = std::max(enough, high - low);
  // A solve for the nodes around knows both better, but where the limits of walks decide it does not help.
  if (decided_well && length_class(longest) <= length_class(length_) && high - low <= 2.0 * enough) {
    if (high - low > enough) return false;
    enough_for_others = enough;
  }
  const std::size_t most_near = decided_well ? 128 : 32;  // nodes whose evidence is looked at
  std::size_t looked_at = 0;
  if (rest > enough_for_others) {
    std::sort(work.evidence.begin(), work.evidence.end(),
              [](const NearEvidence& a, const NearEvidence& b) { return a.at_most > b.at_most; });
    while (looked_at < std::min(most_near, near.size()) && rest > 0.25 * enough_for_others) {
      rest -= near[looked_at++].at_most;
    }
    rest = 0.0;
    for (std::size_t k = looked_at; k < near.size(); ++k) rest += near[k].at_most;
    if (rest > 0.5 * enough_for_others) return false;
  }

  const NodeId slot = nodes_.find(node);
  const auto* own = nodes_.inverse(node);
  const double diagonal = diagonal_[node];
  const double excess = diagonal - low;
  if (slot != none) near_residual -= std::sqrt(queue_.squared_residual(slot)) / diagonal;  // counted as it is
  coarse_.step(work.coarse_step);
  work.vectors.reset(4 * d);
  LaneRow* const x = work.vectors.residual.data();
  LaneRow* const power = x + d;  // B^{-m} x
  LaneRow* const next = power + d;
  LaneRow* const a = next + d;
  for (std::size_t from = 0; from < out.means.size(); from += lane_count) {
    const std::size_t used = std::min(lane_count, out.means.size() - from);
    Lanes squared_length{};
    for (std::size_t k = 0; k < d; ++k) {
      Lanes values{};
      for (std::size_t lane = 0; lane < used; ++lane) {
        if (allowed.empty() || allowed[from + lane] != 0) values[lane] = contexts[(from + lane) * d + k];
      }
      x[k].values = values;
      squared_length += values * values;
    }
    const auto dot = [d](const LaneRow* first, const LaneRow* second) {
      Lanes total{};
      for (std::size_t k = 0; k < d; ++k) total += first[k].values * second[k].values;
      return LaneRow{total};
    };
    nodes_.apply_inverse(node, diagonal, x, power);

    // The mean, from B_i^{-1} x.
    Lanes mean{};
    Lanes coarse{};
    for (std::size_t k = 0; k < d; ++k) {
      if (slot != none) mean += x[k].values * nodes_.mean(slot)[k] + power[k].values * nodes_.residual(slot)[k];
      coarse += (diagonal - prior_.ridge(node)) * work.coarse_step[k] * power[k].values;
    }
    const Lanes squared_first = dot(power, power).values;

    // The upper end of the variance, and a.
    Lanes upper{};
    Lanes cut_off{};  // what the lower end has less by
    if (own == nullptr) {
      for (std::size_t k = 0; k < d; ++k) a[k] = (1.0 / low) * x[k];
      upper = squared_length / low;
    } else {
      double factor = 1.0;
      for (std::size_t k = 0; k < d; ++k) a[k] = power[k];
      for (std::size_t terms = 1;; ++terms) {
        factor *= excess;
        const Lanes remainder = factor * dot(a, power).values;
        const Lanes remainder_of_remainder = factor * factor / low * dot(power, power).values;
        upper = dot(x, a).values + remainder + remainder_of_remainder;
        cut_off = remainder_of_remainder;
        bool done = true;
        for (std::size_t lane = 0; lane < used; ++lane) {
          done = done && cut_off[lane] <= 0.1 * enough * dot(a, a).values[lane];
        }
        if (done || terms == most_terms) break;
        own->apply_lanes(power, next, d);
        for (std::size_t k = 0; k < d; ++k) {
          power[k] = next[k];
          a[k].values += factor * power[k].values;
        }
      }
    }

    const Lanes squared_a = dot(a, a).values;
    Lanes others = rest * squared_a;
    for (std::size_t k = 0; k < looked_at; ++k) {
      const double scale = 1.0 / diagonal_[near[k].node];
      nodes_.inverse(near[k].node)->apply_lanes(a, next, d);
      for (std::size_t r = 0; r < d; ++r) next[r].values = scale * a[r].values - next[r].values;
      others += (near[k].weight / scale) * (near[k].first * dot(a, next).values + dot(next, next).values / scale);
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      if (others[lane] > enough_for_others * squared_a[lane]) return false;
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      const double mean_bound = std::sqrt(squared_first[lane]) * diagonal * near_residual;
      const double estimate = std::clamp(coarse[lane], -mean_bound, mean_bound);
      out.means[from + lane] = mean[lane] + estimate;
      out.mean_errors[from + lane] = mean_bound + std::abs(estimate);
      out.variances[from + lane] = std::max(0.0, upper[lane]);
      out.variance_errors[from + lane] =
          std::min(out.variances[from + lane], (high - low) * squared_a[lane] + others[lane] + cut_off[lane]);
    }
  }
  return true;
}

/// Eight candidates, from the `first` on, with the evidence of S. With u = 0 outside S and rho = phi - N u, zero in S
/// but for what the solve left (inside) and coupling W u just outside (outside):
///
///     x^T C_i x = x.u_i + u.inside + rho^T N^{-1} rho,     x.w_i = x.approximate_i + u.r + rho^T N^{-1} r
///
/// and |outside_k| <= t coupling sum of W_kj g_j with t = max |u_j| / g_j over the nodes j that an edge leaves S from,
/// so its part of rho^T N^{-1} rho is at most t^2 gap, and of rho^T N^{-1} r at most t leak max(|r_j| / slope_j). That
/// part of the mean is estimated with the coarse level's step y for N^{-1} r at every node, as (sum of outside).y,
/// which the bound then takes in.
void LocalEngine::evaluate_near(Workspace& work, std::span<const double> contexts,
                                std::span<const std::uint8_t> allowed, std::size_t first, const Evaluation& out) const {
  constexpr double best_accuracy = 1e-10;  // of a solve, whose error enters squared
  const double accuracy = std::clamp(0.1 * options_.tolerance, best_accuracy, 1e-3);
  const std::size_t d = dimension_;
  const auto nodes = work.near.nodes();
  const auto values = work.near.values();
  const NodeId own_slot = nodes_.find(nodes[0]);
  const std::size_t used = std::min(lane_count, out.means.size() - first);
  const double* x = contexts.data() + first * d;
  auto& vectors = work.vectors;
  vectors.reset(nodes.size() * d);
  Lanes goal{};
  for (std::size_t lane = 0; lane < used; ++lane) {
    if (!allowed.empty() && allowed[first + lane] == 0) continue;
    for (std::size_t k = 0; k < d; ++k) {
      vectors.residual[k].values[lane] = x[lane * d + k];
      goal[lane] += accuracy * accuracy * x[lane * d + k] * x[lane * d + k];
    }
  }
  auto& own_context = work.contexts;
  own_context.assign(vectors.residual.begin(), vectors.residual.begin() + static_cast<std::ptrdiff_t>(d));
  guess_near(work);
  solve_near(work, d, goal, true);

  Lanes mean{};
  Lanes variance{};
  for (std::size_t k = 0; k < d; ++k) {
    variance += own_context[k].values * vectors.solution[k].values;
    if (own_slot != none) mean += own_context[k].values * nodes_.mean(own_slot)[k];
  }
  Lanes inside{};         // sum of |inside_j|^2 height_j / slope_j
  Lanes inside_sum{};     // sum of |inside_j| height_j
  Lanes squared_ratio{};  // t^2
  Lanes coarse{};         // (sum of outside).y
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const NodeId slot = nodes_.find(nodes[j]);
    const double height = barrier_.height(nodes[j]);
    const auto links = work.near.links(j);
    const bool leads_outside = links.size() < graph().neighbours(nodes[j]).size();
    double passed_on = diagonal_[nodes[j]] - prior_.ridge(nodes[j]);  // to the nodes outside, of a unit here
    for (const auto& link : links) passed_on -= prior_.coupling() * link.weight;
    Lanes squared_solution{};
    Lanes squared_inside{};
    for (std::size_t k = 0; k < d; ++k) {
      const Lanes u = vectors.solution[j * d + k].values;
      const Lanes left = vectors.residual[j * d + k].values;
      variance += u * left;
      squared_solution += u * u;
      squared_inside += left * left;
      if (slot != none) mean += u * nodes_.residual(slot)[k];
      if (leads_outside) coarse += passed_on * work.coarse_step[k] * u;
    }
    inside += squared_inside * (height / barrier_.slope(nodes[j]));
    for (std::size_t lane = 0; lane < used; ++lane) {
      inside_sum[lane] += height * std::sqrt(squared_inside[lane]);
      if (leads_outside && squared_solution[lane] > 0.0) {
        squared_ratio[lane] = std::max(squared_ratio[lane], squared_solution[lane] / (values[j] * values[j]));
      }
    }
  }
  for (std::size_t lane = 0; lane < used; ++lane) {
    const double root = std::sqrt(work.near.gap() * squared_ratio[lane]) + std::sqrt(inside[lane]);
    const double leak = work.near.leak() * std::sqrt(squared_ratio[lane]) + inside_sum[lane];
    // The term that the coarse level estimates is not larger than its bound.
    const double mean_bound = leak * residual_bound_;
    const double estimate = std::clamp(coarse[lane], -mean_bound, mean_bound);
    const double lower = std::max(0.0, variance[lane]);
    out.means[first + lane] = mean[lane] + estimate;
    out.variances[first + lane] = lower + root * root;
    out.mean_errors[first + lane] = mean_bound + std::abs(estimate);
    out.variance_errors[first + lane] = root * root;
  }
}

/// Finds the nodes whose evidence a decision looks at.
void LocalEngine::grow(Workspace& work, NodeId node, double longest, std::size_t most_nodes) const {
  const double tolerance = options_.tolerance / longest;
  if (is_small() || !is_decided_well(node, most_nodes)) {
    return work.near.grow(near_prior(), std::span(&node, 1), tolerance, options_.most_nodes, most_nodes);
  }
  const double precision = kept_precision(work, node);
  work.near.walk(near_prior(), std::span(&node, 1), 0.5 * tolerance, 64 * options_.most_nodes, 64 * most_nodes);
  work.near.know_upper(1.0 / precision);
  work.near.gather(near_prior(), tolerance, options_.most_nodes, most_nodes, 1.2);
}

void LocalEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                           const Evaluation& out) const {
  evaluate(node, contexts, allowed, most_nodes_of_a_decision(), out);
}

/// How many nodes a decision looks at where it must: so many that the solves for 25 candidates take about 10 ms at
/// most, with the default options.
std::size_t LocalEngine::most_nodes_of_a_decision() const {
  constexpr std::size_t few_dimensions = 10;
  return (dimension_ <= few_dimensions ? 16 : 4) * options_.most_nodes;
}

/// The cheap way where it does. Else with the evidence of `LocalOptions::most_nodes` nodes, and of more, up to
/// `most_nodes`, as long as the prior alone has a standard deviation off by more than two tolerances: with evidence it
/// is less.
void LocalEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                           std::size_t most_nodes, const Evaluation& out) const {
  const auto seed = static_cast<NodeId>(node);
  double longest = 0.0;
  for (std::size_t k = 0; k < out.means.size(); ++k) {
    if (!allowed.empty() && allowed[k] == 0) continue;
    double squared = 0.0;
    for (const double value : contexts.subspan(k * dimension_, dimension_)) squared += value * value;
    longest = std::max(longest, squared);
  }
  longest = std::sqrt(longest);
  if (!(longest > 0.0)) {
    for (const auto& values : {out.means, out.variances, out.mean_errors, out.variance_errors}) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    return;
  }
  auto work = workspaces_.take();
  if (!evaluate_alone(*work, seed, contexts, allowed, longest, most_nodes, out)) {
    work->walked_from = none;
    coarse_.step(work->coarse_step);
    grow(*work, seed, longest, most_nodes);
    for (std::size_t first = 0; first < out.means.size(); first += lane_count) {
      evaluate_near(*work, contexts, allowed, first, out);
    }
  }
  workspaces_.put_back(std::move(work));
}

void LocalEngine::mean(std::size_t node, std::span<double> out) const {
  const MatrixXd contexts = MatrixXd::Identity(static_cast<Index>(dimension_), static_cast<Index>(dimension_));
  std::vector<double> others(3 * dimension_);
  const auto rest = std::span(others);
  evaluate(node, {contexts.data(), dimension_ * dimension_}, {},
           {.means = out,
            .variances = rest.first(dimension_),
            .mean_errors = rest.subspan(dimension_, dimension_),
            .variance_errors = rest.subspan(2 * dimension_)});
}

/// Of N, or, where evidence is left out, of A: then the matrix is 1 x 1.
LocalEngine::MatrixBracket LocalEngine::bracket(std::span<const NodeId> seeds, bool with_evidence,
                                                std::size_t most_nodes) const {
  constexpr double accuracy = 1e-14;  // of a solve, whose error enters once
  const std::size_t dimension = with_evidence ? dimension_ : 1;
  const auto d = static_cast<Index>(dimension);
  auto work = workspaces_.take();
  work->walked_from = none;
  work->near.grow(near_prior(), seeds, options_.tolerance, most_nodes);
  auto& vectors = work->vectors;
  MatrixXd solution = MatrixXd::Zero(d, d);
  double squared_solution = 0.0;
  double squared_residual = 0.0;
  for (std::size_t first = 0; first < dimension; first += lane_count) {
    const std::size_t used = std::min(lane_count, dimension - first);
    vectors.reset(work->near.nodes().size() * dimension);
    Lanes goal{};
    for (std::size_t lane = 0; lane < used; ++lane) {
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        vectors.residual[k * dimension + first + lane].values[lane] = k == 0 ? 1.0 : -1.0;
      }
      goal[lane] = accuracy * accuracy;
    }
    solve_near(*work, dimension, goal, with_evidence);
    for (std::size_t lane = 0; lane < used; ++lane) {
      for (const auto& row : vectors.solution) squared_solution += row.values[lane] * row.values[lane];
      for (const auto& row : vectors.residual) squared_residual += row.values[lane] * row.values[lane];
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        for (Index r = 0; r < d; ++r) {
          const double value = vectors.solution[k * dimension + static_cast<std::size_t>(r)].values[lane];
          solution(r, static_cast<Index>(first + lane)) += k == 0 ? value : -value;
        }
      }
    }
  }
  // E^T N_SS^{-1} E = E^T U + U^T R + R^T N_SS^{-1} R with the residual R that the solves left.
  const double product = std::sqrt(squared_solution * squared_residual);
  MatrixBracket result{.lower = 0.5 * (solution + solution.transpose()),
                       .slack = work->near.gap() + squared_residual / prior_.smallest_ridge() + 2.0 * product};
  result.lower.diagonal().array() -= product;
  workspaces_.put_back(std::move(work));
  return result;
}

void LocalEngine::covariance(std::size_t node, std::span<double> out) const {
  const auto seed = static_cast<NodeId>(node);
  const std::size_t most_nodes = most_nodes_of_a_decision();
  MatrixBracket known;
  for (std::size_t most = options_.most_nodes;; most = std::min(2 * most, most_nodes)) {
    known = bracket(std::span(&seed, 1), true, most);
    const double least = std::max(0.0, known.lower.diagonal().minCoeff());
    const double off = std::sqrt(least + known.slack) - std::sqrt(least);  // of a standard deviation, for |x| = 1
    if (off <= too_many_tolerances * options_.tolerance || most >= std::min(most_nodes, node_count())) break;
  }
  known.lower.diagonal().array() += known.slack;
  std::copy_n(known.lower.data(), known.lower.size(), out.data());
}

}  // namespace goblin
