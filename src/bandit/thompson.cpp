#include "bandit/thompson.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace goblin {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The probability that a standard normal number is between the two, to full relative precision.
double normal_between(double low, double high) {
  if (low > 0.0) return normal_between(-high, -low);
  const auto below = [](double t) { return 0.5 * std::erfc(-t * (0.5 * std::numbers::sqrt2)); };
  return below(high) - below(low);
}

/// Candidates along a line: the score of k at t is at_0[k] + slope[k] t.
class Lines {
 public:
  explicit Lines(std::size_t count) : at_0(count), slope(count), order_(count) {}

  /// Calls best(k, low, high) for each candidate that has the highest score anywhere: where that is. Of equals the
  /// lowest index counts.
  template <typename Best>
  void for_each_best(Best best) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      if (slope[a] != slope[b]) return slope[a] < slope[b];
      return at_0[a] != at_0[b] ? at_0[a] > at_0[b] : a < b;
    });
    hull_.clear();
    for (const std::size_t k : order_) {
      if (!hull_.empty() && slope[k] == slope[hull_.back().first]) continue;  // never above the one before
      double from = -std::numeric_limits<double>::infinity();
      while (!hull_.empty()) {
        const auto [other, others_from] = hull_.back();
        from = (at_0[other] - at_0[k]) / (slope[k] - slope[other]);
        if (from > others_from) break;
        hull_.pop_back();
        from = -std::numeric_limits<double>::infinity();
      }
      hull_.emplace_back(k, from);
    }
    for (std::size_t k = 0; k < hull_.size(); ++k) {
      const bool last = k + 1 == hull_.size();
      best(hull_[k].first, hull_[k].second, last ? std::numeric_limits<double>::infinity() : hull_[k + 1].second);
    }
  }

  std::vector<double> at_0;
  std::vector<double> slope;

 private:
  std::vector<std::size_t> order_;
  std::vector<std::pair<std::size_t, double>> hull_;  // a candidate, and from where on it is the best
};

/// Rows with the same products with each other, but of no more numbers than there are rows.
std::vector<double> shortened(const std::vector<double>& rows, std::size_t count, std::size_t length) {
  if (length <= count) return rows;
  std::vector<double> products(count * count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      products[a * count + b] =
          dot(std::span(rows).subspan(a * length, length), std::span(rows).subspan(b * length, length));
    }
  }
  cholesky_factor(products, count);
  return products;
}

bool is_left(Mask left, std::size_t arm) { return left.empty() || left[arm] != 0; }

}  // namespace

void cholesky_factor(std::span<double> matrix, std::size_t n) {
  for (std::size_t row = 0; row < n; ++row) {
    double* const of_row = matrix.data() + row * n;
    const double before = of_row[row];
    for (std::size_t column = 0; column <= row; ++column) {
      const double* const of_column = matrix.data() + column * n;
      const double rest = of_row[column] - std::inner_product(of_row, of_row + column, of_column, 0.0);
      if (column < row) {
        of_row[column] = of_column[column] > 0.0 ? rest / of_column[column] : 0.0;
      } else {
        of_row[row] = rest > 1e-14 * before ? std::sqrt(rest) : 0.0;
      }
    }
    std::fill(of_row + row + 1, of_row + n, 0.0);
  }
}

ThompsonDraws::ThompsonDraws(std::vector<double> covariance, std::span<const double> contexts, Mask allowed, double v)
    : dimension_(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(covariance.size()))))),
      rows_(contexts.size(), 0.0) {
  cholesky_factor(covariance, dimension_);
  for (std::size_t arm = 0; arm * dimension_ < contexts.size(); ++arm) {
    if (!is_left(allowed, arm)) continue;
    double* const to = rows_.data() + arm * dimension_;
    for (std::size_t r = 0; r < dimension_; ++r) {
      const double factor = v * contexts[arm * dimension_ + r];
      for (std::size_t c = 0; c <= r; ++c) to[c] += factor * covariance[r * dimension_ + c];
    }
  }
}

double ThompsonDraws::standard_deviation(std::size_t arm) const { return std::sqrt(dot(row(arm), row(arm))); }

void ThompsonDraws::draw(Random& random, std::span<const double> means, Mask left, std::span<double> scores) const {
  std::vector<double> z(dimension_);
  for (double& value : z) value = random.normal();
  for (std::size_t arm = 0; arm < means.size(); ++arm) {
    if (is_left(left, arm)) scores[arm] = means[arm] + dot(row(arm), z);
  }
}

ThompsonDraws::Estimate ThompsonDraws::estimate(Random& random, std::size_t samples, std::span<const double> means,
                                                Mask left) const {
  std::vector<std::size_t> arms;
  std::vector<double> rows;
  for (std::size_t arm = 0; arm < means.size(); ++arm) {
    if (!is_left(left, arm)) continue;
    // One that is the same as another before it is never chosen.
    const auto is_same = [&](std::size_t other) {
      return means[other] == means[arm] && std::ranges::equal(row(other), row(arm));
    };
    if (std::any_of(arms.begin(), arms.end(), is_same)) continue;
    arms.push_back(arm);
    rows.insert(rows.end(), row(arm).begin(), row(arm).end());
  }
  const std::size_t count = arms.size();
  Estimate result{.probabilities = std::vector<double>(means.size(), 0.0),
                  .errors = std::vector<double>(means.size(), 0.0)};
  if (count == 1) {
    result.probabilities[arms.front()] = 1.0;
    return result;
  }
  const std::size_t length = std::min(count, dimension_);
  rows = shortened(rows, count, dimension_);
  std::vector<double> columns(rows.size());  // candidates side by side, which goes faster
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t c = 0; c < length; ++c) columns[c * count + k] = rows[k * length + c];
  }

  Lines lines(count);
  std::vector<double> z(length);
  std::vector<double> u(length);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::size_t one = random.below(count);
    const std::size_t shift = 1 + random.below(count - 1);
    const std::size_t other = (one + shift) % count;
    for (double& value : z) value = random.normal();
    for (std::size_t c = 0; c < length; ++c) u[c] = columns[c * count + one] - columns[c * count + other];
    const double size = std::sqrt(dot(u, u));
    for (double& value : u) value = size > 0.0 ? value / size : 0.0;  // 0: the two are the same, and z decides
    const double along = dot(z, u);
    for (std::size_t k = 0; k < count; ++k) lines.at_0[k] = means[arms[k]];
    std::fill(lines.slope.begin(), lines.slope.end(), 0.0);
    for (std::size_t c = 0; c < length; ++c) {
      const double offset = z[c] - along * u[c];
      const double direction = u[c];
      const double* const column = columns.data() + c * count;
      for (std::size_t k = 0; k < count; ++k) {
        lines.at_0[k] += offset * column[k];
        lines.slope[k] += direction * column[k];
      }
    }
    lines.for_each_best([&](std::size_t k, double low, double high) {
      const double probability = normal_between(low, high);
      result.probabilities[arms[k]] += probability;
      result.errors[arms[k]] += probability * probability;
    });
  }
  const auto n = static_cast<double>(samples);
  for (const std::size_t arm : arms) {
    double& probability = result.probabilities[arm];
    double& error = result.errors[arm];  // the sum of squares, so far
    probability /= n;
    const double variance = std::max(0.0, error / n - probability * probability);
    // What is so rare that no line met it is not in the variance: it has a share of about 1 / n at most.
    error = count > 2 ? std::sqrt(variance / n + 1.0 / (n * n)) : 0.0;
  }
  return result;
}

}  // namespace goblin
