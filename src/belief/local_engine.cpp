#include "belief/local_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/graph_edit.hpp"
#include "belief/unpacked.hpp"
#include "binary.hpp"
#include "graph/graph_binary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// A residual this much below its right-hand side makes an error of no account where that is squared, and one this
/// much below where it is not.
constexpr double nothing = 1e-10;
constexpr double nothing_at_all = 1e-14;

Lanes ratio(const Lanes& numerator, const Lanes& denominator) {
  Lanes result{};
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (denominator[lane] > 0.0) result[lane] = numerator[lane] / denominator[lane];
  }
  return result;
}

double log_determinant_of_sum(double k, const MatrixXd& matrix) {
  const Index d = matrix.rows();
  return (MatrixXd::Identity(d, d) + k * matrix).eval().llt().matrixLLT().diagonal().array().log().sum() * 2.0;
}

Graph load_component(BinaryReader& in) {
  Graph graph = load_graph(in);
  in.expect(graph.node_count() > 0, "the size of a local component");
  return graph;
}

}  // namespace

std::unique_ptr<LocalEngine::Workspace> LocalEngine::Workspaces::take(std::size_t node_count) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(node_count);
}

void LocalEngine::Workspaces::put_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

std::size_t LocalEngine::Workspaces::count() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

LocalEngine::LocalEngine(const Graph& component, std::size_t dimension, const Prior& prior, const LocalOptions& options)
    : dimension_(dimension),
      stride_(packs_for(dimension) * pack_size),
      prior_(prior),
      options_(options),
      graph_(component),
      diagonal_(prior_diagonal(component, prior.ridge, prior.coupling)),
      slot_of_(component.node_count(), none),
      coarse_residual_(dimension),
      coarse_inverse_(static_cast<double>(component.node_count()) * prior.ridge),
      step_(stride_) {
  constexpr std::size_t numbers_in_a_block = 16'384;
  while (block_slots() * 4 * stride_ <= numbers_in_a_block) ++block_shift_;
}

LocalEngine::LocalEngine(const Engine& first, const Engine& second, std::span<const NodeEvidence> evidence,
                         std::size_t dimension, const Prior& prior, const LocalOptions& options)
    : LocalEngine(side_by_side(first.graph(), second.graph()), dimension, prior, options) {
  const std::size_t n = first.node_count();
  copy_part(first, 0, evidence.first(n));
  copy_part(second, static_cast<NodeId>(n), evidence.subspan(n));
  std::vector<double> observed(dimension_ * (dimension_ + 1) / 2);
  for (const NodeEvidence& each : evidence) {
    for (std::size_t k = 0; k < each.contexts.size(); ++k) observed[k] += each.contexts[k];
  }
  rebuild_coarse(unpacked(observed, dimension_));
  note_all();
}

/// The belief of another engine about nodes shift, shift + 1, ... of this one. O(n d + m d), and d^2 where there is
/// evidence.
void LocalEngine::copy_part(const Engine& from, NodeId shift, std::span<const NodeEvidence> evidence) {
  const auto n = static_cast<NodeId>(from.node_count());
  if (from.kind() == EngineKind::local) {
    const auto& other = static_cast<const LocalEngine&>(from);
    for (NodeId j = 0; j < n; ++j) copy_node(shift + j, other, j);
    length_ = std::max(length_, other.length_);
    squared_lengths_ += other.squared_lengths_;
    observations_ += other.observations_;
    return;
  }
  for (NodeId j = 0; j < n; ++j) {
    const std::size_t slot = touch(shift + j);
    from.mean(j, {mean_at(slot), dimension_});
    if (!evidence[j].contexts.empty())
      make_inverse(slot).rebuild(diagonal_[shift + j], evidence[j].contexts, dimension_);
  }
  for (NodeId j = 0; j < n; ++j) compute_residual(shift + j, evidence[j]);
}

void LocalEngine::copy_node(NodeId node, const LocalEngine& from, NodeId from_node) {
  const NodeId from_slot = from.slot_of_[from_node];
  if (from_slot == none) return;
  const std::size_t slot = touch(node);
  std::copy_n(from.mean_at(from_slot), 2 * stride_, mean_at(slot));
  if (from.inverse_at_[from_slot] != none) make_inverse(slot) = from.inverses_[from.inverse_at_[from_slot]];
}

std::unique_ptr<Engine> LocalEngine::extract(std::span<const NodeId> nodes) const {
  auto part = std::make_unique<LocalEngine>(graph_.induced(nodes), dimension_, prior_, options_);
  for (std::size_t j = 0; j < nodes.size(); ++j) part->copy_node(static_cast<NodeId>(j), *this, nodes[j]);
  part->length_ = length_;
  part->squared_lengths_ = squared_lengths_;
  part->observations_ = observations_;
  const auto d = static_cast<Index>(dimension_);
  MatrixXd observed = MatrixXd::Zero(d, d);
  for (const NodeInverse& inverse : part->inverses_) observed += inverse.observed(dimension_);
  part->rebuild_coarse(observed);
  part->note_all();
  return part;
}

/// From the sum of S_j. O(slots d + d^3).
void LocalEngine::rebuild_coarse(const MatrixXd& observed) {
  std::fill(coarse_residual_.begin(), coarse_residual_.end(), 0.0);
  for (std::size_t slot = 0; slot < node_of_.size(); ++slot) {
    for (std::size_t k = 0; k < dimension_; ++k) coarse_residual_[k] += residual_at(slot)[k];
  }
  coarse_inverse_.rebuild(static_cast<double>(node_count()) * prior_.ridge, observed);
}

std::size_t LocalEngine::bytes() const {
  std::size_t total = sizeof(*this) + graph_.bytes() + diagonal_.size() * sizeof(double) +
                      (slot_of_.size() + node_of_.capacity() + inverse_at_.capacity()) * sizeof(NodeId) +
                      level_.capacity() + blocks_.size() * block_slots() * 2 * stride_ * sizeof(double) +
                      (inverses_.capacity() - inverses_.size()) * sizeof(NodeInverse) +
                      workspaces_.count() * node_count() * sizeof(NodeId) + coarse_inverse_.bytes() +
                      coarse_residual_.size() * sizeof(double);
  for (const NodeInverse& inverse : inverses_) total += inverse.bytes();
  for (const auto& level : waiting_) total += level.capacity() * sizeof(NodeId);
  return total;
}

std::size_t LocalEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto stride = static_cast<double>(packs_for(dimension) * pack_size);
  const double node = 16.0 * stride + 2.0 * sizeof(double) + 5.0 * sizeof(NodeId) + 1.0;
  return byte_count(sizeof(LocalEngine) + static_cast<double>(nodes) * node + 24.0 * static_cast<double>(edges));
}

std::size_t LocalEngine::touch(NodeId node) {
  if (slot_of_[node] != none) return slot_of_[node];
  const std::size_t slot = node_of_.size();
  if (slot >> block_shift_ == blocks_.size()) blocks_.emplace_back(block_slots() * 2 * stride_, 0.0);
  slot_of_[node] = static_cast<NodeId>(slot);
  node_of_.push_back(node);
  inverse_at_.push_back(none);
  level_.push_back(0);
  return slot;
}

NodeInverse& LocalEngine::make_inverse(std::size_t slot) {
  if (inverse_at_[slot] == none) {
    inverse_at_[slot] = static_cast<NodeId>(inverses_.size());
    inverses_.emplace_back(diagonal_[node_of_[slot]]);
  }
  return inverses_[inverse_at_[slot]];
}

const NodeInverse* LocalEngine::inverse_of(NodeId node) const {
  const NodeId slot = slot_of_[node];
  return slot == none || inverse_at_[slot] == none ? nullptr : &inverses_[inverse_at_[slot]];
}

/// B_j^{-1}.
template <typename Number>
void LocalEngine::apply_inverse(NodeId node, const Number* from, Number* to) const {
  if (const NodeInverse* inverse = inverse_of(node)) return inverse->apply(from, to, dimension_);
  const double scale = 1.0 / diagonal_[node];
  for (std::size_t k = 0; k < dimension_; ++k) to[k] = scale * from[k];
}

double LocalEngine::squared_residual(std::size_t slot) const {
  const double* residual = residual_at(slot);
  Pack total{};
  for (std::size_t k = 0; k < stride_; k += pack_size) total += *packs(residual + k) * *packs(residual + k);
  return sum(total);
}

/// Lets a slot wait if its residual is above what is allowed.
void LocalEngine::note(std::size_t slot, double squared) {
  if (squared <= allowed_) {
    quiet_ = std::max(quiet_, squared);
    return;
  }
  const double ratio = allowed_ > 0.0 ? squared / allowed_ : std::numeric_limits<double>::infinity();
  const auto level = static_cast<std::uint8_t>(
      std::isfinite(ratio) ? std::clamp<int>(std::ilogb(ratio) / 2, 0, level_count - 1) : level_count - 1);
  if (level_[slot] > level) return;
  level_[slot] = static_cast<std::uint8_t>(level + 1);
  waiting_[level].push_back(static_cast<NodeId>(slot));
}

/// Starts anew with what is allowed. O(slots).
void LocalEngine::note_all() {
  const double allowed = options_.tolerance * prior_.ridge / (length_ > 0.0 ? length_ : 1.0);
  allowed_ = allowed * allowed;
  quiet_ = 0.0;
  for (auto& level : waiting_) level.clear();
  std::fill(level_.begin(), level_.end(), 0);
  residual_bound_ = 0.0;
  for (std::size_t slot = 0; slot < node_of_.size(); ++slot) {
    const double squared = squared_residual(slot);
    note(slot, squared);
    residual_bound_ = std::max(residual_bound_, std::sqrt(squared));
  }
}

/// The allowed residual follows the root mean square length of the contexts, in steps, so that it never rises and
/// rarely falls.
void LocalEngine::observe_length(double squared_length) {
  constexpr double step = 1.5;
  squared_lengths_ += squared_length;
  ++observations_;
  const double length = std::sqrt(squared_lengths_ / static_cast<double>(observations_));
  if (length <= step * length_) return;
  length_ = length;
  note_all();
}

/// r_j = c_j - S_j w_j - (ridge + coupling degree) w_j + coupling sum of weight w_k. O(d^2 + neighbours d).
void LocalEngine::compute_residual(NodeId node, const NodeEvidence& evidence) {
  const std::size_t slot = touch(node);
  std::vector<double> residual(stride_, 0.0);
  const double* mean = mean_at(slot);
  // Differences of means, so that a heavy edge between two nodes that are alike takes no digits.
  for (std::size_t k = 0; k < dimension_; ++k) residual[k] = -prior_.ridge * mean[k];
  const auto neighbours = graph_.neighbours(node);
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const double factor = prior_.coupling * graph_.weights(node)[n];
    const NodeId other = slot_of_[neighbours[n]];
    for (std::size_t k = 0; k < dimension_; ++k) {
      residual[k] += factor * ((other == none ? 0.0 : mean_at(other)[k]) - mean[k]);
    }
  }
  if (!evidence.contexts.empty()) {
    const MatrixXd contexts = unpacked(evidence.contexts, dimension_);
    for (std::size_t c = 0; c < dimension_; ++c) {
      residual[c] += evidence.rewards[c];
      for (std::size_t r = 0; r < dimension_; ++r)
        residual[c] -= contexts(static_cast<Index>(r), static_cast<Index>(c)) * mean[r];
    }
  }
  std::copy(residual.begin(), residual.end(), residual_at(slot));
}

/// Settles the residual of one node and passes it on. Gives the number of edges.
std::size_t LocalEngine::push(std::size_t slot) {
  const NodeId node = node_of_[slot];
  double* mean = mean_at(slot);
  double* residual = residual_at(slot);
  apply_inverse(node, residual, step_.data());
  const double passed_on = diagonal_[node] - prior_.ridge;
  for (std::size_t k = 0; k < dimension_; ++k) coarse_residual_[k] += passed_on * step_[k] - residual[k];
  for (std::size_t k = 0; k < stride_; ++k) {
    mean[k] += step_[k];
    residual[k] = 0.0;
  }
  const auto neighbours = graph_.neighbours(node);
  const auto weights = graph_.weights(node);
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const double factor = prior_.coupling * weights[n];
    const std::size_t other = touch(neighbours[n]);
    double* target = residual_at(other);
    Pack total{};
    for (std::size_t k = 0; k < stride_; k += pack_size) {
      const Pack changed = *packs(target + k) + factor * *packs(step_.data() + k);
      *packs(target + k) = changed;
      total += changed * changed;
    }
    note(other, sum(total));
  }
  return neighbours.size();
}

/// Settles the residuals of a node and those around it at once, by a solve with N_SS: where an edge outweighs all
/// others, pushing would hand the residual to and fro along it. Gives the number of edges, all iterations counted.
std::size_t LocalEngine::settle_around(NodeId node) {
  auto work = workspaces_.take(node_count());
  work->near.grow(graph_, prior_, diagonal_, std::span(&node, 1), nothing, options_.most_nodes);
  const auto nodes = work->near.nodes();
  resize(*work);
  double squared = 0.0;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const std::size_t slot = touch(nodes[j]);
    squared += squared_residual(slot);
    for (std::size_t k = 0; k < dimension_; ++k) work->residual[j * dimension_ + k].values[0] = residual_at(slot)[k];
  }
  solve(*work, Lanes{nothing * nothing * squared});
  std::size_t edges = 0;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const std::size_t slot = slot_of_[nodes[j]];
    for (std::size_t k = 0; k < dimension_; ++k) {
      const double left = work->residual[j * dimension_ + k].values[0];
      step_[k] = work->solution[j * dimension_ + k].values[0];
      mean_at(slot)[k] += step_[k];
      coarse_residual_[k] += left - residual_at(slot)[k];
      residual_at(slot)[k] = left;
    }
    note(slot, squared_residual(slot));
    // Neighbours inside S have had their share in the solve.
    const auto neighbours = graph_.neighbours(nodes[j]);
    const auto links = work->near.links(j);
    std::size_t inside = 0;
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (inside < links.size() && nodes[links[inside].to] == neighbours[n]) {
        ++inside;
        continue;
      }
      const std::size_t other = touch(neighbours[n]);
      const double factor = prior_.coupling * graph_.weights(nodes[j])[n];
      for (std::size_t k = 0; k < dimension_; ++k) {
        residual_at(other)[k] += factor * step_[k];
        coarse_residual_[k] += factor * step_[k];
      }
      note(other, squared_residual(other));
    }
    edges += neighbours.size();
  }
  workspaces_.put_back(std::move(work));
  return edges;
}

/// Settles what waits, the largest residuals first.
SolveSummary LocalEngine::relax() {
  // Pushes that go on for so long do not converge; solves around the worst node do.
  const std::size_t enough_pushes = options_.most_edges / 2;
  SolveSummary summary;
  std::size_t top = level_count;
  for (;;) {
    for (top = level_count; top > 0 && waiting_[top - 1].empty();) --top;
    if (top == 0 || summary.edges >= options_.most_edges) break;
    const std::size_t slot = waiting_[top - 1].back();
    waiting_[top - 1].pop_back();
    if (level_[slot] != top) continue;  // it waits at a higher level or was settled there
    level_[slot] = 0;
    const double squared = squared_residual(slot);
    if (squared <= allowed_) {
      quiet_ = std::max(quiet_, squared);
      continue;
    }
    ++summary.iterations;
    summary.edges += 1 + (summary.edges < enough_pushes ? push(slot) : 8 * settle_around(node_of_[slot]));
  }
  residual_bound_ = std::sqrt(quiet_);
  if (top > 0) {
    summary.converged = false;
    // Those that wait at lower levels are below this one.
    residual_bound_ = std::max(residual_bound_, std::sqrt(allowed_) * std::exp2(static_cast<double>(top) - 1.0));
    for (const NodeId slot : waiting_[top - 1]) {
      residual_bound_ = std::max(residual_bound_, std::sqrt(squared_residual(slot)));
    }
  }
  summary.residual = allowed_ > 0.0 ? residual_bound_ / std::sqrt(allowed_) : 0.0;
  return summary;
}

Engine::Learned LocalEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  Learned result;
  double expected = 0.0;
  double mean_error = 0.0;
  evaluate_with_errors(node, context, {&expected, 1}, {&result.variance, 1}, {&mean_error, 1},
                       {&result.variance_error, 1});
  double squared_length = 0.0;
  for (const double value : context) squared_length += value * value;
  observe_length(squared_length);

  const std::size_t slot = touch(static_cast<NodeId>(node));
  double surprise = reward;
  for (std::size_t k = 0; k < dimension_; ++k) surprise -= context[k] * mean_at(slot)[k];
  for (std::size_t k = 0; k < dimension_; ++k) {
    residual_at(slot)[k] += context[k] * surprise;
    coarse_residual_[k] += context[k] * surprise;
  }
  make_inverse(slot).observe(context);
  coarse_inverse_.observe(context);
  note(slot, squared_residual(slot));
  result.solve = relax();
  return result;
}

void LocalEngine::resize(Workspace& work) const {
  const std::size_t rows = work.near.nodes().size() * dimension_;
  for (auto* vector : {&work.solution, &work.residual, &work.direction, &work.diagonal_direction, &work.image}) {
    vector->resize(rows);
  }
  std::fill(work.solution.begin(), work.solution.end(), LaneRow{});
  std::fill(work.residual.begin(), work.residual.end(), LaneRow{});
}

/// Solves N_SS u = residual, eight right-hand sides at once, each until its squared residual is within the goal.
/// Conjugate gradients with B as preconditioner; B p follows p by recurrence, as B z = r for z = B^{-1} r.
void LocalEngine::solve(Workspace& work, const Lanes& goal) const {
  const auto nodes = work.near.nodes();
  const std::size_t d = dimension_;
  const std::size_t rows = nodes.size() * d;
  auto* const u = work.solution.data();
  auto* const r = work.residual.data();
  auto* const p = work.direction.data();
  auto* const bp = work.diagonal_direction.data();
  auto* const z = work.image.data();
  const auto precondition = [&](LaneRow* to) {
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      apply_inverse(nodes[j], r + j * d, to + j * d);
    }
  };
  Lanes inner{};
  Lanes squared{};
  precondition(p);
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
    Lanes curvature{};
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      for (std::size_t k = 0; k < d; ++k) z[j * d + k].values = bp[j * d + k].values;
      for (const auto& link : work.near.links(j)) {
        const double factor = prior_.coupling * link.weight;
        for (std::size_t k = 0; k < d; ++k) z[j * d + k].values -= factor * p[link.to * d + k].values;
      }
      for (std::size_t k = 0; k < d; ++k) curvature += p[j * d + k].values * z[j * d + k].values;
    }
    const Lanes step = ratio(inner, curvature);
    squared = Lanes{};
    for (std::size_t k = 0; k < rows; ++k) {
      u[k].values += step * p[k].values;
      r[k].values -= step * z[k].values;
      squared += r[k].values * r[k].values;
    }
    precondition(z);
    Lanes next{};
    for (std::size_t k = 0; k < rows; ++k) next += r[k].values * z[k].values;
    const Lanes turn = ratio(next, inner);
    inner = next;
    for (std::size_t k = 0; k < rows; ++k) {
      p[k].values = z[k].values + turn * p[k].values;
      bp[k].values = r[k].values + turn * bp[k].values;
    }
  }
}

void LocalEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                           std::span<double> variances) const {
  std::vector<double> errors(2 * means.size());
  const auto all = std::span(errors);
  evaluate_with_errors(node, contexts, means, variances, all.first(means.size()), all.subspan(means.size()));
}

/// With u = 0 outside S and rho = phi - N u, zero in S but for what the solve left (inside) and coupling W u just
/// outside (outside):
///
///     x^T C_i x = x.u_i + u.inside + rho^T N^{-1} rho,     x.w_i = x.approximate_i + u.r + rho^T N^{-1} r
///
/// and |outside_k| <= t coupling sum of W_kj g_j with t = max |u_j| / g_j, so its part of rho^T N^{-1} rho is at most
/// t^2 gap, and of rho^T N^{-1} r at most t leak max|r_j| / ridge. That part of the mean is estimated with the coarse
/// level's step y for N^{-1} r at every node, as (sum of outside).y, which the bound then takes in.
void LocalEngine::evaluate_with_errors(std::size_t node, std::span<const double> contexts, std::span<double> means,
                                       std::span<double> variances, std::span<double> mean_errors,
                                       std::span<double> variance_errors) const {
  const std::size_t d = dimension_;
  const auto seed = static_cast<NodeId>(node);
  double longest = 0.0;
  for (std::size_t k = 0; k < means.size(); ++k) {
    double squared = 0.0;
    for (const double value : contexts.subspan(k * d, d)) squared += value * value;
    longest = std::max(longest, squared);
  }
  longest = std::sqrt(longest);
  if (!(longest > 0.0)) {
    for (const auto& values : {means, variances, mean_errors, variance_errors}) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    return;
  }
  auto work = workspaces_.take(node_count());
  work->near.grow(graph_, prior_, diagonal_, std::span(&seed, 1), options_.tolerance / longest, options_.most_nodes);
  const auto nodes = work->near.nodes();
  const auto values = work->near.values();
  const double accuracy = std::clamp(0.1 * options_.tolerance, nothing, 1e-3);
  const NodeId own_slot = slot_of_[seed];
  auto& coarse_step = work->coarse_step;
  coarse_step.resize(d);
  coarse_inverse_.apply(coarse_residual_.data(), coarse_step.data(), d);
  for (std::size_t first = 0; first < means.size(); first += lane_count) {
    const std::size_t used = std::min(lane_count, means.size() - first);
    const double* x = contexts.data() + first * d;
    resize(*work);
    Lanes goal{};
    for (std::size_t lane = 0; lane < used; ++lane) {
      for (std::size_t k = 0; k < d; ++k) {
        work->residual[k].values[lane] = x[lane * d + k];
        goal[lane] += accuracy * accuracy * x[lane * d + k] * x[lane * d + k];
      }
    }
    solve(*work, goal);

    Lanes mean{};
    Lanes variance{};
    for (std::size_t k = 0; k < d; ++k) {
      Lanes entry{};
      for (std::size_t lane = 0; lane < used; ++lane) entry[lane] = x[lane * d + k];
      variance += entry * work->solution[k].values;
      if (own_slot != none) mean += entry * mean_at(own_slot)[k];
    }
    Lanes inside{};         // |inside|^2
    Lanes inside_sum{};     // sum of |inside_j|
    Lanes squared_ratio{};  // t^2
    Lanes coarse{};         // (sum of outside).y
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      const NodeId slot = slot_of_[nodes[j]];
      double passed_on = diagonal_[nodes[j]] - prior_.ridge;  // to the nodes outside, of a unit here
      for (const auto& link : work->near.links(j)) passed_on -= prior_.coupling * link.weight;
      Lanes squared_solution{};
      Lanes squared_inside{};
      for (std::size_t k = 0; k < d; ++k) {
        const Lanes u = work->solution[j * d + k].values;
        const Lanes left = work->residual[j * d + k].values;
        variance += u * left;
        squared_solution += u * u;
        squared_inside += left * left;
        if (slot != none) mean += u * residual_at(slot)[k];
        coarse += passed_on * coarse_step[k] * u;
      }
      inside += squared_inside;
      for (std::size_t lane = 0; lane < used; ++lane) {
        inside_sum[lane] += std::sqrt(squared_inside[lane]);
        if (squared_solution[lane] > 0.0) {
          squared_ratio[lane] = std::max(squared_ratio[lane], squared_solution[lane] / (values[j] * values[j]));
        }
      }
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      const double root = std::sqrt(work->near.gap() * squared_ratio[lane]) + std::sqrt(inside[lane] / prior_.ridge);
      const double leak = work->near.leak() * std::sqrt(squared_ratio[lane]) + inside_sum[lane];
      // The term that the coarse level estimates is not larger than its bound.
      const double mean_bound = leak * residual_bound_ / prior_.ridge;
      const double estimate = std::clamp(coarse[lane], -mean_bound, mean_bound);
      means[first + lane] = mean[lane] + estimate;
      variances[first + lane] = std::max(0.0, variance[lane]) + root * root;
      mean_errors[first + lane] = mean_bound + std::abs(estimate);
      variance_errors[first + lane] = root * root;
    }
  }
  workspaces_.put_back(std::move(work));
}

void LocalEngine::mean(std::size_t node, std::span<double> out) const {
  const MatrixXd contexts = MatrixXd::Identity(static_cast<Index>(dimension_), static_cast<Index>(dimension_));
  std::vector<double> variances(dimension_);
  evaluate(node, {contexts.data(), dimension_ * dimension_}, out, variances);
}

/// E^T N^{-1} E between lower and lower + slack I, E = sum of +-e_k (x) I_d over the seeds: plus the first, minus the
/// second.
struct LocalEngine::MatrixBracket {
  MatrixXd lower;
  double slack = 0.0;
};

LocalEngine::MatrixBracket LocalEngine::matrix_bracket(std::span<const NodeId> seeds) const {
  const auto d = static_cast<Index>(dimension_);
  auto work = workspaces_.take(node_count());
  work->near.grow(graph_, prior_, diagonal_, seeds, options_.tolerance, options_.most_nodes);
  MatrixXd solution = MatrixXd::Zero(d, d);
  double squared_solution = 0.0;
  double squared_residual = 0.0;
  for (std::size_t first = 0; first < dimension_; first += lane_count) {
    const std::size_t used = std::min(lane_count, dimension_ - first);
    resize(*work);
    Lanes goal{};
    for (std::size_t lane = 0; lane < used; ++lane) {
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        work->residual[k * dimension_ + first + lane].values[lane] = k == 0 ? 1.0 : -1.0;
      }
      goal[lane] = nothing_at_all * nothing_at_all;
    }
    solve(*work, goal);
    for (std::size_t lane = 0; lane < used; ++lane) {
      for (const auto& row : work->solution) squared_solution += row.values[lane] * row.values[lane];
      for (const auto& row : work->residual) squared_residual += row.values[lane] * row.values[lane];
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        for (Index r = 0; r < d; ++r) {
          const double value = work->solution[k * dimension_ + static_cast<std::size_t>(r)].values[lane];
          solution(r, static_cast<Index>(first + lane)) += k == 0 ? value : -value;
        }
      }
    }
  }
  // E^T N_SS^{-1} E = E^T U + U^T R + R^T N_SS^{-1} R with the residual R that the solves left.
  const double product = std::sqrt(squared_solution * squared_residual);
  MatrixBracket result{.lower = 0.5 * (solution + solution.transpose()),
                       .slack = work->near.gap() + squared_residual / prior_.ridge + 2.0 * product};
  result.lower.diagonal().array() -= product;
  workspaces_.put_back(std::move(work));
  return result;
}

void LocalEngine::covariance(std::size_t node, std::span<double> out) const {
  const auto seed = static_cast<NodeId>(node);
  MatrixBracket bracket = matrix_bracket(std::span(&seed, 1));
  bracket.lower.diagonal().array() += bracket.slack;
  std::copy_n(bracket.lower.data(), bracket.lower.size(), out.data());
}

/// The means only need the residuals of the two ends computed anew and passed on. The determinants follow from
/// E^T N^{-1} E, and the same of A, in the graph with the lesser weight: then nothing cancels. O(m) for the graph.
Engine::EdgeChanged LocalEngine::change_edge(std::size_t a, std::size_t b, double change,
                                             std::span<const NodeEvidence> evidence) {
  const bool gains = change > 0.0;
  const double k = prior_.coupling * std::abs(change);
  const std::array<NodeId, 2> ends{static_cast<NodeId>(a), static_cast<NodeId>(b)};
  const auto rewire = [&] {
    graph_ = with_edge_changed(graph_, ends[0], ends[1], change);
    for (const NodeId node : ends) {
      diagonal_[node] = prior_.ridge + prior_.coupling * graph_.degree(node);
      if (inverse_of(node) != nullptr) {
        make_inverse(slot_of_[node]).rebuild(diagonal_[node], evidence[node].contexts, dimension_);
      }
    }
  };
  if (!gains) rewire();
  const MatrixBracket belief = matrix_bracket(ends);
  const MatrixBracket prior = LocalEngine(graph_, 1, prior_, options_).matrix_bracket(ends);
  const auto d = static_cast<Index>(dimension_);
  const double count = static_cast<double>(dimension_);
  const double low = log_determinant_of_sum(k, belief.lower);
  const double high = log_determinant_of_sum(k, belief.lower + belief.slack * MatrixXd::Identity(d, d));
  const double prior_low = std::log1p(k * prior.lower(0, 0));
  const double prior_high = std::log1p(k * (prior.lower(0, 0) + prior.slack));
  EdgeChanged result;
  result.log_determinant = gains ? high : -low;
  result.prior_log_determinant = gains ? prior_low : -prior_high;
  result.error = (high - low) + count * (prior_high - prior_low);
  if (gains) rewire();

  // What one end gains the other loses: the coarse residual stays.
  for (const NodeId node : ends) {
    compute_residual(node, evidence[node]);
    note(slot_of_[node], squared_residual(slot_of_[node]));
  }
  result.solve = relax();
  return result;
}

void LocalEngine::save(BinaryWriter& out) const {
  save_graph(out, graph_);
  out.array(node_of_);
  for (std::size_t slot = 0; slot < node_of_.size(); ++slot) {
    out.array(std::span<const double>(mean_at(slot), dimension_));
    out.array(std::span<const double>(residual_at(slot), dimension_));
    out.number(static_cast<std::uint8_t>(inverse_at_[slot] == none ? 0 : 1));
    if (inverse_at_[slot] != none) inverses_[inverse_at_[slot]].save(out);
  }
  out.array(level_);
  for (const auto& level : waiting_) out.array(level);
  for (const double value : {quiet_, allowed_, residual_bound_, length_, squared_lengths_}) out.number(value);
  out.size(observations_);
  out.array(coarse_residual_);
  coarse_inverse_.save(out);
}

LocalEngine::LocalEngine(BinaryReader& in, std::size_t dimension, const Prior& prior, const LocalOptions& options)
    : LocalEngine(load_component(in), dimension, prior, options) {
  const auto nodes = in.array<std::uint32_t>();
  in.expect(nodes.size() <= in.left() / (2 * sizeof(double) * dimension_), "the size of a local component");
  for (const NodeId node : nodes) {
    in.expect(node < node_count() && slot_of_[node] == none, "a node of a local component");
    touch(node);
  }
  for (std::size_t slot = 0; slot < node_of_.size(); ++slot) {
    const auto fill = [&](double* target, const char* what) {
      const auto values = in.array<double>(dimension_, what);
      std::copy(values.begin(), values.end(), target);
    };
    fill(mean_at(slot), "the mean of a node");
    fill(residual_at(slot), "the residual of a node");
    if (in.number<std::uint8_t>() == 0) continue;
    inverse_at_[slot] = static_cast<NodeId>(inverses_.size());
    inverses_.emplace_back(in, dimension_);
  }
  level_ = in.array<std::uint8_t>(node_of_.size(), "the levels");
  for (const std::uint8_t level : level_) in.expect(level <= level_count, "a level");
  for (auto& level : waiting_) {
    level = in.array<std::uint32_t>();
    for (const NodeId slot : level) in.expect(slot < node_of_.size(), "a node that waits");
  }
  for (double* value : {&quiet_, &allowed_, &residual_bound_, &length_, &squared_lengths_}) {
    *value = in.number<double>();
    in.expect(*value >= 0.0, "the residuals");
  }
  observations_ = in.size();
  coarse_residual_ = in.array<double>(dimension_, "the coarse residual");
  coarse_inverse_ = NodeInverse(in, dimension_);
}

}  // namespace goblin
