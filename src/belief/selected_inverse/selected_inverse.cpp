#include "belief/selected_inverse/selected_inverse.hpp"

#include "jobs.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace goblin {

using Panel = EliminationPlan::Panel;

namespace {

/// What a panel takes, about, as a share of the whole.
double work_of(const Panel& panel) {
  const auto rows = static_cast<double>(panel.count + panel.rows.size());
  return static_cast<double>(panel.count) * rows * rows;
}

}  // namespace

SelectedInverse::SelectedInverse(const EliminationPlan& plan, const PriorMatrix& prior,
                                 const std::function<void(std::size_t, Eigen::Ref<Eigen::MatrixXd>)>& add_evidence,
                                 const Work& work)
    : plan_(plan), threads_(work.threads) {
  const Index d = rows_of(1);
  for (const Panel& panel : plan.panels()) total_work_ += work_of(panel);
  for (const Panel& panel : plan.panels()) {
    Matrix& numbers =
        panels_.emplace_back(Matrix::Zero(rows_of(panel.count + panel.rows.size()), rows_of(panel.count)));
    for (std::size_t k = 0; k < panel.count; ++k) {
      const std::size_t node = plan.node(panel.first + k);
      auto own = numbers.block(rows_of(k), rows_of(k), d, d);
      own.diagonal().setConstant(prior.diagonal(node));
      if (add_evidence) add_evidence(node, own);
      const auto neighbours = prior.graph().neighbours(node);
      for (std::size_t e = 0; e < neighbours.size(); ++e) {
        const std::size_t other = plan.position(neighbours[e]);
        if (other < panel.first + k) continue;
        numbers.block(rows_of(row_in(panel, other)), rows_of(k), d, d)
            .diagonal()
            .setConstant(-prior.coupling() * prior.graph().weights(node)[e]);
      }
    }
  }
  double total = 0.0;
  double done = 0.0;
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    if (!factor_panel(panel)) return;
    total += 2.0 * panels_[panel].diagonal().array().log().sum();
    update_later_panels(panel);
    done += share_of(panel);
    work.tell(done);
  }
  log_determinant_ = total;
}

/// Which of a panel's rows is the node at this position, in nodes.
std::size_t SelectedInverse::row_in(const Panel& panel, std::size_t position) const {
  if (position < panel.first + panel.count) return position - panel.first;
  const auto at = std::lower_bound(panel.rows.begin(), panel.rows.end(), position);
  return panel.count + static_cast<std::size_t>(at - panel.rows.begin());
}

std::vector<SelectedInverse::Segment> SelectedInverse::segments_of(const Panel& panel) const {
  std::vector<Segment> segments;
  for (std::size_t k = 0; k < panel.rows.size(); ++k) {
    const std::size_t owner = plan_.panel_of(panel.rows[k]);
    if (segments.empty() || segments.back().panel != owner) segments.push_back({owner, k, k});
    segments.back().end = k + 1;
  }
  return segments;
}

/// Some nodes by their positions, ascending, all of them rows of a panel: calls job(where the run begins among them,
/// the panel's row, how many) for each run of them that lie in a row there.
template <typename Job>
void SelectedInverse::for_runs(const Panel& panel, const NodeId* first, const NodeId* last, Job job) const {
  for (const NodeId* at = first; at != last;) {
    const std::size_t row = row_in(panel, *at);
    std::size_t count = 1;
    const auto node_of_row = [&](std::size_t k) {
      return k < panel.count ? panel.first + k : static_cast<std::size_t>(panel.rows[k - panel.count]);
    };
    while (at + count != last && row + count < panel.count + panel.rows.size() &&
           node_of_row(row + count) == at[count]) {
      ++count;
    }
    job(static_cast<std::size_t>(at - first), row, count);
    at += count;
  }
}

/// Starting threads takes some ten microseconds.
std::size_t SelectedInverse::threads_for(double multiplications) const {
  constexpr double worth_it = 2e6;
  return multiplications < worth_it ? 1 : threads_;
}

/// The rows below the columns, times L_cc^{-T} (transposed) or L_cc^{-1}. Each row is on its own.
void SelectedInverse::divide_rows(std::size_t panel, bool transposed) {
  constexpr Index together = 512;
  Matrix& numbers = panels_[panel];
  const Index columns = numbers.cols();
  const Index rows = numbers.rows() - columns;
  const auto jobs = static_cast<std::size_t>((rows + together - 1) / together);
  run_jobs(jobs, threads_for(static_cast<double>(rows * columns * columns) / 2.0), [&](std::size_t job) {
    const Index first = static_cast<Index>(job) * together;
    const auto square = numbers.topRows(columns).triangularView<Eigen::Lower>();
    auto part = numbers.middleRows(columns + first, std::min(together, rows - first));
    if (transposed) {
      square.transpose().solveInPlace<Eigen::OnTheRight>(part);
    } else {
      square.solveInPlace<Eigen::OnTheRight>(part);
    }
    return true;
  });
}

bool SelectedInverse::factor_panel(std::size_t panel) {
  Matrix& numbers = panels_[panel];
  Eigen::Ref<Matrix> square = numbers.topRows(numbers.cols());
  const Eigen::LLT<Eigen::Ref<Matrix>> factor(square);
  if (factor.info() != Eigen::Success) return false;
  divide_rows(panel, true);
  return true;
}

/// The later panels lose L_Jc L_Jc^T, each by a job of its own.
void SelectedInverse::update_later_panels(std::size_t index) {
  const Panel& panel = plan_.panels()[index];
  const auto segments = segments_of(panel);
  const Matrix& numbers = panels_[index];
  const Index columns = numbers.cols();
  const auto size = static_cast<double>(numbers.rows() - columns);
  run_jobs(segments.size(), threads_for(size * size * static_cast<double>(columns) / 2.0), [&](std::size_t job) {
    const Segment& segment = segments[job];
    const Panel& target = plan_.panels()[segment.panel];
    const NodeId* const rows = panel.rows.data();
    const auto left = numbers.bottomRows(rows_of(panel.rows.size() - segment.begin));
    const auto right = numbers.middleRows(columns + rows_of(segment.begin), rows_of(segment.end - segment.begin));
    const std::size_t column = row_in(target, rows[segment.begin]);
    const std::size_t width = segment.end - segment.begin;
    const bool in_a_row = rows[segment.end - 1] - rows[segment.begin] + 1 == width;
    Matrix& into = panels_[segment.panel];
    const bool in_place =
        in_a_row && row_in(target, panel.rows.back()) + 1 - column == panel.rows.size() - segment.begin;
    if (in_place) {
      into.block(rows_of(column), rows_of(column), left.rows(), right.rows()).noalias() -= left * right.transpose();
      return true;
    }
    const Matrix product = left * right.transpose();
    for_runs(target, rows + segment.begin, rows + panel.rows.size(),
             [&](std::size_t at, std::size_t row, std::size_t count) {
               for (std::size_t k = 0; k < width; ++k) {
                 const std::size_t to = row_in(target, rows[segment.begin + k]);
                 into.block(rows_of(row), rows_of(to), rows_of(count), rows_of(1)) -=
                     product.block(rows_of(at), rows_of(k), rows_of(count), rows_of(1));
               }
             });
    return true;
  });
}

void SelectedInverse::invert(const Work& work) {
  double done = 0.0;
  for (std::size_t panel = panels_.size(); panel-- > 0;) {
    invert_panel(panel);
    done += share_of(panel);
    work.tell(done);
  }
}

double SelectedInverse::share_of(std::size_t index) const { return work_of(plan_.panels()[index]) / total_work_; }

void SelectedInverse::invert_panel(std::size_t index) {
  const Panel& panel = plan_.panels()[index];
  const auto segments = segments_of(panel);
  Matrix& numbers = panels_[index];
  const Index columns = numbers.cols();
  const Index below = numbers.rows() - columns;
  divide_rows(index, false);
  const auto factor = numbers.bottomRows(below);  // K
  Matrix result = Matrix::Zero(below, columns);   // Z_Jc
  const auto size = static_cast<double>(below);
  run_jobs(segments.size(), threads_for(size * size * static_cast<double>(columns)), [&](std::size_t job) {
    const Segment& own = segments[job];
    const NodeId* const rows = panel.rows.data();
    const Index own_rows = rows_of(own.end - own.begin);
    auto out = result.middleRows(rows_of(own.begin), own_rows);
    Matrix copy;
    // Z between some rows and the columns of a segment, in that segment's panel, lies in memory as one block or is
    // copied into one.
    const auto with_block = [&](std::size_t begin, std::size_t end, const Segment& segment, auto use) {
      const Panel& source = plan_.panels()[segment.panel];
      const Matrix& from = panels_[segment.panel];
      const std::size_t first_row = row_in(source, rows[begin]);
      const std::size_t first_column = row_in(source, rows[segment.begin]);
      const std::size_t width = segment.end - segment.begin;
      const bool rows_in_a_row = row_in(source, rows[end - 1]) - first_row + 1 == end - begin;
      const bool columns_in_a_row = rows[segment.end - 1] - rows[segment.begin] + 1 == width;
      if (rows_in_a_row && columns_in_a_row) {
        use(from.block(rows_of(first_row), rows_of(first_column), rows_of(end - begin), rows_of(width)));
        return;
      }
      copy.resize(rows_of(end - begin), rows_of(width));
      for_runs(source, rows + begin, rows + end, [&](std::size_t at, std::size_t row, std::size_t count) {
        for (std::size_t k = 0; k < width; ++k) {
          copy.block(rows_of(at), rows_of(k), rows_of(count), rows_of(1)) =
              from.block(rows_of(row), rows_of(row_in(source, rows[segment.begin + k])), rows_of(count), rows_of(1));
        }
      });
      use(copy.block(0, 0, copy.rows(), copy.cols()));
    };
    for (std::size_t k = 0; k < job; ++k) {
      const Segment& earlier = segments[k];
      with_block(own.begin, own.end, earlier, [&](const auto& block) {
        out.noalias() -= block * factor.middleRows(rows_of(earlier.begin), block.cols());
      });
    }
    // Its own square is stored whole, and what lies below it is needed transposed.
    with_block(own.begin, panel.rows.size(), own,
               [&](const auto& block) { out.noalias() -= block.transpose() * factor.bottomRows(block.rows()); });
    return true;
  });
  const auto triangle = numbers.topRows(columns).triangularView<Eigen::Lower>();
  const Matrix inverse = triangle.solve(Matrix::Identity(columns, columns));
  Matrix square = Matrix::Zero(columns, columns);
  square.selfadjointView<Eigen::Lower>().rankUpdate(inverse.transpose());
  square.noalias() -= factor.transpose() * result;
  numbers.bottomRows(below) = result;
  numbers.topRows(columns) = square.selfadjointView<Eigen::Lower>();
}

Eigen::MatrixXd SelectedInverse::block(std::size_t node) const {
  const std::size_t position = plan_.position(node);
  const std::size_t panel = plan_.panel_of(position);
  const Index at = rows_of(position - plan_.panels()[panel].first);
  return panels_[panel].block(at, at, rows_of(1), rows_of(1));
}

std::optional<PriorInverse> prior_inverse(const PriorMatrix& prior, double most_multiplications, double most_bytes,
                                          std::size_t threads) {
  const auto plan = EliminationPlan::make(prior.graph().snapshot(), 1, most_multiplications, most_bytes);
  if (!plan) return std::nullopt;
  SelectedInverse inverse(*plan, prior, {}, {.threads = threads, .spare_bytes = {}, .progress = {}});
  if (!inverse.log_determinant()) return std::nullopt;
  inverse.invert();
  PriorInverse result{.variances = {}, .log_determinant = *inverse.log_determinant()};
  for (std::size_t node = 0; node < prior.node_count(); ++node) result.variances.push_back(inverse.block(node)(0, 0));
  return result;
}

}  // namespace goblin
