// What decisions ask: means and variances around a node, with bounds.

#include "belief/local/local_engine.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

}  // namespace

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
    Lanes product{};
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      LaneRow* const row = to + j * dimension;
      for (std::size_t k = 0; k < dimension; ++k) row[k] = bp[j * dimension + k];
      for (const auto& link : work.near.links(j)) {
        const double factor = prior_.coupling() * link.weight;
        const LaneRow* const other = p + link.to * dimension;
        for (std::size_t k = 0; k < dimension; ++k) row[k].values -= factor * other[k].values;
      }
      for (std::size_t k = 0; k < dimension; ++k) product += p[j * dimension + k].values * row[k].values;
    }
    return LaneRow{product};
  };
  block_cg(work.vectors, goal, precondition, multiply);
}

/// With u = 0 outside S and rho = phi - N u, zero in S but for what the solve left (inside) and coupling W u just
/// outside (outside):
///
///     x^T C_i x = x.u_i + u.inside + rho^T N^{-1} rho,     x.w_i = x.approximate_i + u.r + rho^T N^{-1} r
///
/// and |outside_k| <= t coupling sum of W_kj g_j with t = max |u_j| / g_j, so its part of rho^T N^{-1} rho is at most
/// t^2 gap, and of rho^T N^{-1} r at most t leak max(|r_j| / ridge_j). That part of the mean is estimated with the
/// coarse level's step y for N^{-1} r at every node, as (sum of outside).y, which the bound then takes in.
void LocalEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                           const Evaluation& out) const {
  constexpr double best_accuracy = 1e-10;  // of a solve, whose error enters squared
  const std::size_t d = dimension_;
  const std::size_t count = out.means.size();
  const auto seed = static_cast<NodeId>(node);
  const auto is_allowed = [&](std::size_t k) { return allowed.empty() || allowed[k] != 0; };
  double longest = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!is_allowed(k)) continue;
    double squared = 0.0;
    for (const double value : contexts.subspan(k * d, d)) squared += value * value;
    longest = std::max(longest, squared);
  }
  longest = std::sqrt(longest);
  if (!(longest > 0.0)) {
    for (const auto& values : {out.means, out.variances, out.mean_errors, out.variance_errors}) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    return;
  }
  auto work = workspaces_.take(node_count());
  work->near.grow(prior_, diagonal_, std::span(&seed, 1), options_.tolerance / longest, options_.most_nodes);
  const auto nodes = work->near.nodes();
  const auto values = work->near.values();
  const double accuracy = std::clamp(0.1 * options_.tolerance, best_accuracy, 1e-3);
  const NodeId own_slot = nodes_.find(seed);
  coarse_.step(work->coarse_step);
  const auto& coarse_step = work->coarse_step;
  for (std::size_t first = 0; first < count; first += lane_count) {
    const std::size_t used = std::min(lane_count, count - first);
    const double* x = contexts.data() + first * d;
    auto& vectors = work->vectors;
    vectors.reset(nodes.size() * d);
    Lanes goal{};
    for (std::size_t lane = 0; lane < used; ++lane) {
      if (!is_allowed(first + lane)) continue;
      for (std::size_t k = 0; k < d; ++k) {
        vectors.residual[k].values[lane] = x[lane * d + k];
        goal[lane] += accuracy * accuracy * x[lane * d + k] * x[lane * d + k];
      }
    }
    auto& own_context = work->contexts;
    own_context.assign(vectors.residual.begin(), vectors.residual.begin() + static_cast<std::ptrdiff_t>(d));
    solve_near(*work, d, goal, true);

    Lanes mean{};
    Lanes variance{};
    for (std::size_t k = 0; k < d; ++k) {
      variance += own_context[k].values * vectors.solution[k].values;
      if (own_slot != none) mean += own_context[k].values * nodes_.mean(own_slot)[k];
    }
    Lanes inside{};         // sum of |inside_j|^2 / ridge_j
    Lanes inside_sum{};     // sum of |inside_j|
    Lanes squared_ratio{};  // t^2
    Lanes coarse{};         // (sum of outside).y
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      const NodeId slot = nodes_.find(nodes[j]);
      const double ridge = prior_.ridge(nodes[j]);
      double passed_on = diagonal_[nodes[j]] - ridge;  // to the nodes outside, of a unit here
      for (const auto& link : work->near.links(j)) passed_on -= prior_.coupling() * link.weight;
      Lanes squared_solution{};
      Lanes squared_inside{};
      for (std::size_t k = 0; k < d; ++k) {
        const Lanes u = vectors.solution[j * d + k].values;
        const Lanes left = vectors.residual[j * d + k].values;
        variance += u * left;
        squared_solution += u * u;
        squared_inside += left * left;
        if (slot != none) mean += u * nodes_.residual(slot)[k];
        coarse += passed_on * coarse_step[k] * u;
      }
      inside += squared_inside / ridge;
      for (std::size_t lane = 0; lane < used; ++lane) {
        inside_sum[lane] += std::sqrt(squared_inside[lane]);
        if (squared_solution[lane] > 0.0) {
          squared_ratio[lane] = std::max(squared_ratio[lane], squared_solution[lane] / (values[j] * values[j]));
        }
      }
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      const double root = std::sqrt(work->near.gap() * squared_ratio[lane]) + std::sqrt(inside[lane]);
      const double leak = work->near.leak() * std::sqrt(squared_ratio[lane]) + inside_sum[lane];
      // The term that the coarse level estimates is not larger than its bound.
      const double mean_bound = leak * residual_bound_;
      const double estimate = std::clamp(coarse[lane], -mean_bound, mean_bound);
      out.means[first + lane] = mean[lane] + estimate;
      out.variances[first + lane] = std::max(0.0, variance[lane]) + root * root;
      out.mean_errors[first + lane] = mean_bound + std::abs(estimate);
      out.variance_errors[first + lane] = root * root;
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
  auto work = workspaces_.take(node_count());
  work->near.grow(prior_, diagonal_, seeds, options_.tolerance, most_nodes);
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
  MatrixBracket known = bracket(std::span(&seed, 1), true, options_.most_nodes);
  known.lower.diagonal().array() += known.slack;
  std::copy_n(known.lower.data(), known.lower.size(), out.data());
}

}  // namespace goblin
