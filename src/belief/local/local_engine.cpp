// How the engine is made, joined, split, changed and saved.

#include "belief/local/local_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/symmetric_matrix.hpp"
#include "binary.hpp"
#include "graph/remove_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// ln|I + matrix|.
double log_determinant_above_identity(const MatrixXd& matrix) {
  const Index d = matrix.rows();
  return (MatrixXd::Identity(d, d) + matrix).eval().llt().matrixLLT().diagonal().array().log().sum() * 2.0;
}

}  // namespace

std::unique_ptr<LocalEngine::Workspace> LocalEngine::Workspaces::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void LocalEngine::Workspaces::put_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

std::size_t LocalEngine::Workspaces::count() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

LocalEngine::LocalEngine(const PriorMatrix& prior, std::size_t dimension, const LocalOptions& options)
    : dimension_(dimension),
      prior_(prior),
      options_(options),
      diagonal_(prior.diagonals()),
      barrier_(prior, diagonal_),
      kept_precisions_(prior.node_count()),
      nodes_(prior.node_count(), dimension),
      coarse_(prior.total_ridge(), dimension),
      step_(nodes_.stride()) {}

LocalEngine::LocalEngine(const Engine& first, const Engine& second, const ComponentEvidence& evidence,
                         std::size_t dimension, const LocalOptions& options)
    : LocalEngine(PriorMatrix::side_by_side(first.prior(), second.prior()), dimension, options) {
  copy_part(first, 0, evidence);
  copy_part(second, static_cast<NodeId>(first.node_count()), evidence);
  compute_coarse_level(evidence);
  offer_all();
}

/// The belief of another engine about nodes shift, shift + 1, ... of this one. O(n d + m d), and d^2 where there is
/// evidence.
void LocalEngine::copy_part(const Engine& from, NodeId shift, const ComponentEvidence& evidence) {
  const auto n = static_cast<NodeId>(from.node_count());
  if (from.kind() == EngineKind::local) {
    const auto& other = static_cast<const LocalEngine&>(from);
    for (NodeId j = 0; j < n; ++j) copy_node(shift + j, other, j);
    if (other.length_ <= length_) return;
    length_ = other.length_;
    typical_length_ = other.typical_length_;
    return;
  }
  for (NodeId j = 0; j < n; ++j) {
    from.mean(j, {nodes_.mean(slot_for(shift + j)), dimension_});
    compute_inverse(shift + j, evidence.at(shift + j));
    learn_length_of(evidence.at(shift + j));
  }
  for (NodeId j = 0; j < n; ++j) compute_residual(shift + j, evidence.at(shift + j));
}

/// O(nodes and edges of the other, d), d^2 a node with evidence, and d^3.
bool LocalEngine::absorb(const Engine& other, const ComponentEvidence& evidence) {
  const std::size_t nodes = node_count();
  const std::size_t slots = nodes_.slot_count();
  const double smallest_ridge = prior_.smallest_ridge();
  try {
    append(other, evidence);
  } catch (...) {
    prior_.keep_first(nodes, smallest_ridge);
    diagonal_.resize(nodes);
    barrier_.keep_first(nodes);
    nodes_.keep_first(nodes, slots);
    queue_.keep_first(slots);
    throw;
  }
  return true;
}

void LocalEngine::append(const Engine& other, const ComponentEvidence& evidence) {
  const auto shift = static_cast<NodeId>(node_count());
  const auto first_slot = nodes_.slot_count();
  const double length = length_;
  const TypicalLength typical_length = typical_length_;
  prior_.append(other.prior());
  prior_changed();
  nodes_.add_nodes(other.node_count());
  kept_precisions_.resize(node_count());
  std::vector<double> packed(dimension_ * (dimension_ + 1) / 2);
  for (NodeId node = shift; node < node_count(); ++node) {
    diagonal_.push_back(prior_.diagonal(node));
    const auto contexts = evidence.at(node).contexts;
    for (std::size_t k = 0; k < contexts.size(); ++k) packed[k] += contexts[k];
  }
  barrier_.append(prior_, diagonal_);
  copy_part(other, shift, evidence);
  coarse_.add_nodes(other.prior().total_ridge(), unpacked(packed, dimension_));
  for (std::size_t slot = first_slot; slot < nodes_.slot_count(); ++slot) {
    for (std::size_t k = 0; k < dimension_; ++k) coarse_.residual()[k] += nodes_.residual(slot)[k];
  }
  // A few nodes more do not change what is typical.
  if (length > 0.0) {
    length_ = length;
    typical_length_ = typical_length;
    for (std::size_t slot = first_slot; slot < nodes_.slot_count(); ++slot) {
      offer(slot);
      const double residual = std::sqrt(nodes_.squared_residual(slot)) / barrier_.slope(nodes_.node_of(slot));
      residual_bound_ = std::max(residual_bound_, residual);
    }
  } else {
    offer_all();
  }
}

/// O(edges of the nodes, and of the neighbours of those that get their numbers; d), d^2 a node with evidence, and d^3.
bool LocalEngine::release(std::span<const NodeId> nodes, const ComponentEvidence& gone, const ComponentEvidence& kept) {
  // What takes memory comes first.
  double ridges = 0.0;
  std::vector<double> packed(dimension_ * (dimension_ + 1) / 2);
  CoarseLevel coarse = coarse_;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    ridges += prior_.ridge(nodes[k]);
    const auto contexts = gone.at(k).contexts;
    for (std::size_t c = 0; c < contexts.size(); ++c) packed[c] += contexts[c];
    const NodeId slot = nodes_.find(nodes[k]);
    if (slot == none) continue;
    for (std::size_t c = 0; c < dimension_; ++c) coarse.residual()[c] -= nodes_.residual(slot)[c];
  }
  const double least = static_cast<double>(node_count() - nodes.size()) * prior_.smallest_ridge();
  if (!coarse.remove_nodes(ridges, unpacked(packed, dimension_), least)) {
    coarse.set_sums(prior_.total_ridge() - ridges, sum_of(kept));
  }
  nodes_.expect_removal(nodes.size());
  prior_.remove_nodes(nodes);

  coarse_ = std::move(coarse);
  remove_places(diagonal_, nodes);
  barrier_.remove_nodes(nodes);
  prior_variances_.clear();
  nodes_.remove_nodes(nodes, [this](NodeId slot) { queue_.remove_slot(slot); });
  prior_changed();
  return true;
}

void LocalEngine::copy_node(NodeId node, const LocalEngine& from, NodeId from_node) {
  const NodeId from_slot = from.nodes_.find(from_node);
  if (from_slot == none) return;
  const std::size_t slot = slot_for(node);
  std::copy_n(from.nodes_.residual(from_slot), 2 * nodes_.stride(), nodes_.residual(slot));
  if (const auto* inverse = from.nodes_.inverse(from_node)) nodes_.set_inverse(slot, *inverse);
}

std::unique_ptr<Engine> LocalEngine::extract(std::span<const NodeId> nodes, const ComponentEvidence& evidence) const {
  auto part = std::make_unique<LocalEngine>(prior_.part(nodes), dimension_, options_);
  std::vector<NodeId> belief_nodes;
  belief_nodes.reserve(nodes.size());
  for (const NodeId node : nodes) belief_nodes.push_back(evidence.nodes[node]);
  for (std::size_t j = 0; j < nodes.size(); ++j) part->copy_node(static_cast<NodeId>(j), *this, nodes[j]);
  part->length_ = length_;
  part->typical_length_ = typical_length_;
  part->compute_coarse_level({evidence.evidence, belief_nodes});
  part->offer_all();
  return part;
}

/// The sum of all S_j. O(n + evidence d^2).
MatrixXd LocalEngine::sum_of(const ComponentEvidence& evidence) const {
  std::vector<double> packed(dimension_ * (dimension_ + 1) / 2);
  for (std::size_t node = 0; node < evidence.nodes.size(); ++node) {
    const auto contexts = evidence.at(node).contexts;
    for (std::size_t k = 0; k < contexts.size(); ++k) packed[k] += contexts[k];
  }
  return unpacked(packed, dimension_);
}

/// From the residuals and the evidence. O(slots d + n + evidence d^2 + d^3).
void LocalEngine::compute_coarse_level(const ComponentEvidence& evidence) {
  coarse_.set_sums(prior_.total_ridge(), sum_of(evidence));
  std::fill(coarse_.residual().begin(), coarse_.residual().end(), 0.0);
  for (std::size_t slot = 0; slot < nodes_.slot_count(); ++slot) {
    for (std::size_t k = 0; k < dimension_; ++k) coarse_.residual()[k] += nodes_.residual(slot)[k];
  }
}

std::size_t LocalEngine::bytes() const {
  return sizeof(*this) + prior_.bytes() + diagonal_.size() * sizeof(double) + barrier_.bytes() + nodes_.bytes() +
         queue_.bytes() + pushed_.bytes() + coarse_.bytes() + typical_length_.bytes() + kept_precisions_.bytes() +
         prior_variances_.capacity() * sizeof(double);
}

std::size_t LocalEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto stride = static_cast<double>(padded<double>(dimension));
  const double node = 16.0 * stride + 7.0 * sizeof(double) + 8.0 * sizeof(NodeId);
  return byte_count(sizeof(LocalEngine) + static_cast<double>(nodes) * node + 24.0 * static_cast<double>(edges));
}

/// What decisions keep was found for another prior. After so many changes, of which they note the last 24 digits, it
/// could be taken for this one.
void LocalEngine::prior_changed() {
  constexpr std::size_t noted = std::size_t{1} << 24U;
  if (++prior_changes_ % noted == 0) kept_precisions_.clear();
}

/// Takes the typical length of contexts from sums over them, where none was learned here.
void LocalEngine::learn_length_of(const UserEvidence& sums) {
  if (sums.count == 0) return;
  typical_length_.observe(trace(sums.contexts, dimension_) / static_cast<double>(sums.count));
  length_ = typical_length_.value();
}

/// B_j^{-1}, with the evidence and the diagonal as they are now. Few contexts are kept one by one, as if they had been
/// learned. O(d^3).
void LocalEngine::compute_inverse(NodeId node, const UserEvidence& evidence) {
  if (evidence.contexts.empty()) {
    if (nodes_.inverse(node) != nullptr) nodes_.set_inverse(slot_for(node), LowRankInverse<double>(diagonal_[node]));
    return;
  }
  if (!LowRankInverse<double>::is_whole(evidence.count, dimension_)) {
    if (const auto columns = few_columns_of(evidence.contexts, dimension_, evidence.count)) {
      LowRankInverse<double> inverse(diagonal_[node]);
      inverse.reserve(static_cast<std::size_t>(columns->cols()), dimension_);
      for (Index k = 0; k < columns->cols(); ++k) inverse.observe({columns->col(k).data(), dimension_});
      return nodes_.set_inverse(slot_for(node), std::move(inverse));
    }
  }
  nodes_.set_inverse(slot_for(node), {diagonal_[node], unpacked(evidence.contexts, dimension_)});
}

/// r_j = c_j - S_j w_j - ridge_j w_j + coupling sum of weight (w_k - w_j). O(d^2 + neighbours d). Several threads may
/// do this at the same time for nodes that have a slot.
void LocalEngine::compute_residual(NodeId node, const UserEvidence& evidence) {
  const std::size_t slot = slot_for(node);
  const auto neighbours = graph().neighbours(node);
  const auto weights = graph().weights(node);
  const double* const mean = nodes_.mean(slot);
  double* const residual = nodes_.residual(slot);
  const std::size_t count = nodes_.stride() / pack_size;
  with_pack_count(count, [&](auto packs_known) {
    PackRow<double, decltype(packs_known)::value> row(count);
    for (std::size_t b = 0; b < count; ++b) row[b] = -prior_.ridge(node) * packs(mean)[b];
    // Differences of means, so that a heavy edge between two nodes that are alike takes no digits.
    constexpr std::size_t ahead = 6;
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (n + ahead < neighbours.size()) nodes_.prefetch_mean(neighbours[n + ahead]);
      const double factor = prior_.coupling() * weights[n];
      const NodeId other = nodes_.find(neighbours[n]);
      if (other == none) {
        for (std::size_t b = 0; b < count; ++b) row[b] -= factor * packs(mean)[b];
      } else {
        const Pack* const others = packs(nodes_.mean(other));
        for (std::size_t b = 0; b < count; ++b) row[b] += factor * (others[b] - packs(mean)[b]);
      }
    }
    for (std::size_t b = 0; b < count; ++b) packs(residual)[b] = row[b];
  });
  if (evidence.contexts.empty()) return;
  for (std::size_t k = 0; k < dimension_; ++k) residual[k] += evidence.rewards[k];
  subtract_product(evidence.contexts, mean, residual, dimension_);
}

/// The means only need the residuals of the ends computed anew and passed on, once for all edges.
Engine::Changed LocalEngine::set_edges(std::span<const Edge> edges, const ComponentEvidence& evidence,
                                       const Work& /*work*/) {
  Changed result;
  std::vector<NodeId> ends;
  for (const Edge& edge : edges) {
    result.add(rewire(edge, evidence));
    ends.insert(ends.end(), {edge.a, edge.b});
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  // What one end gains the other loses: the coarse residual stays.
  for (const NodeId node : ends) {
    compute_residual(node, evidence.at(node));
    offer(nodes_.find(node));
  }
  result.solve = settle();
  return result;
}

/// Changes an edge of A, but not the means. The determinants follow from E^T N^{-1} E, and the same of A, in the graph
/// with the lesser weight: then nothing cancels.
Engine::Changed LocalEngine::rewire(const Edge& edge, const ComponentEvidence& evidence) {
  const auto [a, b, weight] = edge;
  const double change = prior_.coupling() * (weight - graph().weight(a, b));
  const bool gains = change > 0.0;
  const double k = std::abs(change);
  const std::array<NodeId, 2> ends{a, b};
  const auto change_prior = [&, a = a, b = b, weight = weight] {
    prior_.set_edge(a, b, weight);
    for (const NodeId node : ends) {
      diagonal_[node] = prior_.diagonal(node);
      compute_inverse(node, evidence.at(node));
    }
    barrier_.follow_edge(prior_, diagonal_, a, b, [this](NodeId node) { slope_changed(node); });
    prior_changed();
  };
  if (!gains) {
    change_prior();
    prior_variances_ = {};
  }
  // Only ln|M| follows from it, so in a large component a look at few nodes does: more take milliseconds.
  const std::size_t most_nodes = node_count() <= options_.most_nodes ? options_.most_nodes : 4;
  const MatrixBracket belief = bracket(ends, true, most_nodes);
  const MatrixBracket prior = bracket(ends, false, 4 * most_nodes);
  if (gains) change_prior();
  const auto d = static_cast<Index>(dimension_);
  const double low = log_determinant_above_identity(k * belief.lower);
  const double high = log_determinant_above_identity(k * (belief.lower + belief.slack * MatrixXd::Identity(d, d)));
  const double prior_low = static_cast<double>(dimension_) * std::log1p(k * prior.lower(0, 0));
  const double prior_high = static_cast<double>(dimension_) * std::log1p(k * (prior.lower(0, 0) + prior.slack));
  Changed result;
  result.log_determinant = gains ? high - prior_low : prior_high - low;
  result.error = (high - low) + (prior_high - prior_low);
  return result;
}

/// What ln|M| gains from sums X X^T at node i: ln|I + X^T C_i X|. C_i, and S_i in `before`, are without them. A single
/// reward is looked at as if it were learned. More columns in a large component are O(d^3), since C_i^{-1} is known but
/// for a multiple of I; a solve for each of them would take milliseconds.
Engine::Changed LocalEngine::gain_from(NodeId node, const UserEvidence& sums, const MatrixXd& before) const {
  if (const auto column = few_columns_of(sums.contexts, dimension_, 1)) {
    if (column->cols() == 0) return {};
    return look_at(node, {column->data(), dimension_}).change();
  }
  const auto d = static_cast<Index>(dimension_);
  double low = 0.0;
  double high = 0.0;
  if (is_small()) {
    const MatrixBracket belief = bracket(std::span(&node, 1), true, options_.most_nodes);
    const MatrixXd root = root_of(sums.contexts, dimension_);
    const MatrixXd upper = belief.lower + belief.slack * MatrixXd::Identity(d, d);
    low = log_determinant_above_identity(root.transpose() * belief.lower * root);
    high = log_determinant_above_identity(root.transpose() * upper * root);
  } else {
    auto work = workspaces_.take();
    walk(*work, node, std::sqrt(trace(sums.contexts, dimension_)));
    const NodePrecision known = look_around(*work, node);
    workspaces_.put_back(std::move(work));
    const MatrixXd after = before + unpacked(sums.contexts, dimension_);
    const auto gain = [&](double precision) {
      return std::isinf(precision) ? 0.0
                                   : log_determinant_above_identity(after / precision) -
                                         log_determinant_above_identity(before / precision);
    };
    low = gain(known.high + known.others);
    high = gain(known.low);
  }
  return {.log_determinant = high, .error = std::max(0.0, high - low), .solve = {}};
}

/// O(d^3) and what a reward costs.
Engine::Changed LocalEngine::change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                                             const ComponentEvidence& evidence) {
  const auto seed = static_cast<NodeId>(node);
  const std::size_t slot = slot_for(seed);
  const MatrixXd change = unpacked(sums.contexts, dimension_);
  MatrixXd before = unpacked(evidence.at(node).contexts, dimension_);
  if (sign > 0) before -= change;
  if (length_ == 0.0) {
    learn_length_of(sums);
    offer_all();
  }
  const auto take_over = [&] { compute_inverse(seed, evidence.at(node)); };
  if (sign < 0) take_over();
  Changed result = gain_from(seed, sums, before);
  if (sign > 0) take_over();
  if (sign < 0) result.log_determinant = result.error - result.log_determinant;

  const auto add_to_coarse = [&](double factor) {
    for (std::size_t k = 0; k < dimension_; ++k) coarse_.residual()[k] += factor * nodes_.residual(slot)[k];
  };
  add_to_coarse(-1.0);
  compute_residual(seed, evidence.at(node));
  add_to_coarse(1.0);
  const double least = static_cast<double>(node_count()) * prior_.smallest_ridge();
  if (sign > 0) {
    coarse_.add_evidence(change, least);
  } else if (!coarse_.remove_nodes(0.0, change, least)) {
    compute_coarse_level(evidence);
  }
  offer(slot);
  result.solve = settle();
  return result;
}

void LocalEngine::save(BinaryWriter& out) const {
  out.array(nodes_.nodes());
  for (std::size_t slot = 0; slot < nodes_.slot_count(); ++slot) {
    out.array(std::span<const double>(nodes_.mean(slot), dimension_));
    out.array(std::span<const double>(nodes_.residual(slot), dimension_));
    const auto* inverse = nodes_.inverse_at(slot);
    out.number(static_cast<std::uint8_t>(inverse == nullptr ? 0 : 1));
    if (inverse != nullptr) inverse->save(out);
  }
  queue_.save(out);
  out.number(residual_bound_);
  typical_length_.save(out);
  out.number(length_);
  coarse_.save(out);
}

LocalEngine::LocalEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension, const LocalOptions& options)
    : LocalEngine(prior, dimension, options) {
  const auto nodes = in.array<std::uint32_t>();
  in.expect(nodes.size() <= in.left() / (2 * sizeof(double) * dimension_), "the size of a local component");
  for (const NodeId node : nodes) {
    in.expect(node < node_count() && nodes_.find(node) == none, "a node of a local component");
    slot_for(node);
  }
  for (std::size_t slot = 0; slot < nodes_.slot_count(); ++slot) {
    const auto fill = [&](double* target, const char* what) {
      const auto values = in.array<double>(dimension_, what);
      std::copy(values.begin(), values.end(), target);
    };
    fill(nodes_.mean(slot), "the mean of a node");
    fill(nodes_.residual(slot), "the residual of a node");
    if (in.number<std::uint8_t>() != 0) nodes_.set_inverse(slot, LowRankInverse<double>(in, dimension_));
  }
  queue_.load(in);
  for (std::size_t slot = 0; slot < nodes_.slot_count(); ++slot) offer(slot);
  residual_bound_ = in.number<double>();
  in.expect(residual_bound_ >= 0.0, "the residuals");
  residual_bound_ = std::max(residual_bound_, largest_residual());  // older files knew another unit
  typical_length_.load(in);
  length_ = in.number<double>();
  in.expect(length_ >= 0.0, "the length of contexts");
  coarse_.load(in);
}

}  // namespace goblin
