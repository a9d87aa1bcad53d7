// Edges that change. Each is a change of A by a column and of N by d columns; those that gain weight go together, and
// so do those that lose some, as far as memory goes. If there are so many that all of this costs more than to invert N,
// N is inverted.

#include "belief/precision_change.hpp"
#include "belief/selected_inverse/selected_inverse.hpp"
#include "belief/sparse/sparse_engine.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

PriorMatrix with_weights(PriorMatrix prior, std::span<const Edge> edges) {
  for (const Edge& edge : edges) prior.set_edge(edge.a, edge.b, edge.weight);
  return prior;
}

}  // namespace

bool SparseEngine::has_evidence() const {
  for (std::size_t j = 0; j < node_count(); ++j) {
    if (!solver_.observed(j).rows.empty()) return true;
  }
  return false;
}

/// Sixteen solves side by side read the evidence once, but their vectors do not fit into a cache: where the component
/// is large and the evidence thin, they take twice as long as one after the other (20,000 nodes).
bool SparseEngine::side_by_side_pays() const {
  constexpr std::size_t few_nodes = 4000;
  constexpr std::size_t contexts_a_node = 3;
  if (node_count() <= few_nodes) return true;
  std::size_t rows = 0;
  for (std::size_t j = 0; j < node_count(); ++j) rows += solver_.observed(j).rows.size() / stride();
  return rows >= contexts_a_node * node_count();
}

/// As solve_side_by_side.
SolveSummary SparseEngine::solve_in_turn(std::span<const LaneSolver::Column> systems, std::span<const double> sizes,
                                         const SolutionRows& solutions, const Work& work) {
  SolveSummary summary;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    summary.add(solve_alone(systems[k], sizes[k], solutions.column(k)));
    work.tell(static_cast<double>(k + 1) / static_cast<double>(systems.size()));
  }
  return summary;
}

/// So many that their solutions, n d numbers for each of d columns, take some hundred megabytes at most.
std::size_t SparseEngine::edges_in_a_step() const {
  constexpr double most_bytes = 256e6;
  const auto d = static_cast<double>(dimension_);
  const double of_an_edge = 8.0 * d * d * static_cast<double>(node_count());
  return static_cast<std::size_t>(std::max(1.0, most_bytes / of_an_edge));
}

Engine::Bytes SparseEngine::edges_bytes(std::size_t edges, std::size_t threads) const {
  const std::size_t columns = std::min(edges, edges_in_a_step()) * dimension_;
  const double of_graph = 2.0 * static_cast<double>(prior_.bytes()) + 64.0 * static_cast<double>(graph().edge_count());
  return {.kept = 0.0,
          .meanwhile = of_graph + 2.0 * chunk_bytes(columns, threads) + 24.0 * static_cast<double>(columns * columns)};
}

Engine::Changed SparseEngine::set_edges(std::span<const Edge> edges, const ComponentEvidence& evidence,
                                        const Work& work) {
  if (auto inverted = invert_with_edges(edges, evidence, work)) return *inverted;
  std::vector<Edge> gains;
  std::vector<Edge> losses;
  for (const Edge& edge : edges) {
    const double before = graph().weight(edge.a, edge.b);
    if (edge.weight != before) (edge.weight > before ? gains : losses).push_back(edge);
  }
  const auto count = static_cast<double>(gains.size() + losses.size());
  Changed total;
  double done = 0.0;
  for (const auto* list : {&gains, &losses}) {
    for (std::size_t first = 0; first < list->size(); first += edges_in_a_step()) {
      const auto some = std::span(*list).subspan(first, std::min(edges_in_a_step(), list->size() - first));
      const double after = done + static_cast<double>(some.size()) / count;
      total.add(change_edges(some, list == &gains, evidence, work.part(done, after)));
      done = after;
    }
  }
  return total;
}

/// What N gains changes the belief by solutions with the old N, what N loses by solutions with the new one, the way
/// back: nothing cancels. The means are solved for anew. All that may go wrong comes before anything changes.
Engine::Changed SparseEngine::change_edges(std::span<const Edge> edges, bool gains, const ComponentEvidence& evidence,
                                           const Work& work) {
  const EdgeChanges changes(prior_, edges);
  const EdgeColumns& columns = gains ? changes.gains : changes.losses;
  PriorMatrix changed = with_weights(prior_, edges);
  Changed result;
  if (columns.empty()) {  // coupling 0: A is what it was
    solver_.set_prior(changed, work.threads);
    context_solver_.prior_changed();
    prior_ = std::move(changed);
    variances_.prior_changed();
    strongest_coupling_ = strongest_coupling(prior_);
    too_little_ = {};
    return result;
  }
  if (!has_evidence()) {
    change_prior_variances(columns, gains, std::move(changed));
    return result;
  }
  const auto d = static_cast<Index>(dimension_);
  const double sign = gains ? 1.0 : -1.0;
  const MatrixXd prior_solutions = prior_differences(gains ? prior_ : changed, columns);
  const PrecisionChange prior_change(1.0, columns.times(prior_solutions, 1));
  const MatrixXd prior_terms = prior_change.terms(prior_solutions);
  MatrixXd terms(static_cast<Index>(node_count()) * d, static_cast<Index>(columns.edges().size()) * d);
  PriorMatrix before = prior_;
  const auto use = [this](const PriorMatrix& prior, std::size_t threads) {
    prior_ = prior;
    solver_.set_prior(prior_, threads);
    context_solver_.prior_changed();
  };
  try {
    if (!gains) use(changed, work.threads);
    const MatrixXd unit = MatrixXd::Identity(d, d);
    const std::vector<double> zero(dimension_, 0.0);
    std::vector<LaneSolver::Column> systems;
    std::vector<double> sizes;
    for (const Edge& edge : columns.edges()) {
      for (Index c = 0; c < d; ++c) {
        systems.push_back({.node = edge.a,
                           .right_hand_side = {unit.col(c).data(), dimension_},
                           .start = zero,
                           .tolerance = std::min(options_.tolerance, tight),
                           .minus = edge.b});
        sizes.push_back(EdgeColumns::root(edge));
      }
    }
    const SolutionRows solutions{terms.data(), 1, static_cast<std::size_t>(terms.rows())};
    result.solve = side_by_side_pays() ? solve_side_by_side(systems, sizes, solutions, work)
                                       : solve_in_turn(systems, sizes, solutions, work);
    const PrecisionChange change(1.0, columns.times(terms, d));
    result.log_determinant = sign * change.log_determinant();
    constexpr std::size_t together = 64;  // nodes
    run_parts(node_count(), together, work.threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
      auto rows = terms.middleRows(static_cast<Index>(first) * d, static_cast<Index>(end - first) * d);
      rows = change.terms(rows);
    });
    if (gains) use(changed, work.threads);
    result.solve.add(solve_means(evidence));
  } catch (...) {
    use(before, work.threads);
    throw;
  }
  variances_.prior_changed();
  strongest_coupling_ = strongest_coupling(prior_);
  too_little_ = {};
  if (log_determinant_) *log_determinant_ += result.log_determinant;
  result.log_determinant -= sign * static_cast<double>(dimension_) * prior_change.log_determinant();
  subtract_terms(terms, sign, work.threads);
  // Where (A^{-1})_jj is not known, C_j is kept without it.
  for (std::size_t j = 0; j < node_count(); ++j) {
    if (variances_.is_known(j)) continue;
    const double change_of_prior = sign * prior_terms.row(static_cast<Index>(j)).squaredNorm();
    for (std::size_t c = 0; c < dimension_; ++c) covariance_column(j, c)[c] += change_of_prior;
  }
  return result;
}

/// As long as nothing was learned C_j is (A^{-1})_jj I, where that is known.
void SparseEngine::change_prior_variances(const EdgeColumns& columns, bool gains, PriorMatrix changed) {
  bool any_known = false;
  for (std::size_t j = 0; j < node_count(); ++j) any_known = any_known || variances_.is_known(j);
  MatrixXd terms;
  if (any_known) {
    const MatrixXd solutions = prior_differences(gains ? prior_ : changed, columns);
    terms = PrecisionChange(1.0, columns.times(solutions, 1)).terms(solutions);
  }
  solver_.set_prior(changed, 1);
  context_solver_.prior_changed();
  prior_ = std::move(changed);
  variances_.prior_changed();
  strongest_coupling_ = strongest_coupling(prior_);
  too_little_ = {};
  log_determinant_.reset();
  for (std::size_t j = 0; any_known && j < node_count(); ++j) {
    if (!variances_.is_known(j)) continue;
    const double loss = (gains ? 1.0 : -1.0) * terms.row(static_cast<Index>(j)).squaredNorm();
    for (std::size_t c = 0; c < dimension_; ++c) covariance_column(j, c)[c] -= loss;
  }
}

/// By inverting N with the new weights, if that is cheaper than the solves; nothing, and nothing changed, if not.
std::optional<Engine::Changed> SparseEngine::invert_with_edges(std::span<const Edge> edges,
                                                               const ComponentEvidence& evidence, const Work& work) {
  if (!has_evidence()) return std::nullopt;
  const double solves = static_cast<double>(edges.size() * dimension_);
  const auto old_plan = plan_inverse(solves, evidence, work);
  if (!old_plan) return std::nullopt;
  const PriorMatrix changed = with_weights(prior_, edges);
  if (strongest_coupling(changed) > heaviest_to_invert) return std::nullopt;
  const auto plan = EliminationPlan::make(changed.graph().snapshot(), dimension_, multiplications_of_solves(solves),
                                          0.5 * work.spare_bytes());
  if (!plan) return std::nullopt;
  const auto before = log_determinant_ ? log_determinant_ : find_log_determinant(*old_plan, work.part(0.0, 0.25));
  const auto prior_before = find_prior_log_determinant(prior_, *old_plan, {});
  const auto prior_after = find_prior_log_determinant(changed, *plan, {});
  if (!before || !prior_before || !prior_after) return std::nullopt;
  const auto add_sum = [&](std::size_t node, Eigen::Ref<MatrixXd> block) {
    block += unpacked(evidence.at(node).contexts, dimension_);
  };
  SelectedInverse inverse(*plan, changed, add_sum, work.part(0.25, 0.5));
  if (!inverse.log_determinant()) return std::nullopt;
  inverse.invert(work.part(0.5, 1.0));
  Changed result;
  result.log_determinant =
      *inverse.log_determinant() - *before - static_cast<double>(dimension_) * (*prior_after - *prior_before);
  prior_ = changed;
  solver_.set_prior(prior_, work.threads);
  context_solver_.prior_changed();
  variances_.prior_changed();
  strongest_coupling_ = strongest_coupling(prior_);
  too_little_ = {};
  take_over(inverse, evidence);
  result.solve = solve_means(evidence);
  return result;
}

}  // namespace goblin
