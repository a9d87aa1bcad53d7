#pragma once

#include "belief/engine.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/QR>

namespace goblin {

/// Rewards ordered by node, cut where the node changes.
inline std::vector<std::span<const NodeReward>> cut_by_node(std::span<const NodeReward> rewards) {
  std::vector<std::span<const NodeReward>> parts;
  for (std::size_t first = 0, last = 0; first < rewards.size(); first = last) {
    while (last < rewards.size() && rewards[last].node == rewards[first].node) ++last;
    parts.push_back(rewards.subspan(first, last - first));
  }
  return parts;
}

/// What the rewards of one node say: rewards a for contexts X, a column each. More than d of them become d that say the
/// same: X X^T and X a stay as they are. O(d^2) a reward.
struct NodeLesson {
  std::size_t node = 0;
  Eigen::MatrixXd contexts;  // d x count
  Eigen::VectorXd rewards;

  NodeLesson(std::span<const NodeReward> observed, std::size_t dimension) : node(observed.front().node) {
    constexpr std::size_t slab = 512;
    const auto d = static_cast<Eigen::Index>(dimension);
    // A row [x^T, a] for each reward. Where there are more than d, [X^T, a] = Q R, and R says as much.
    Eigen::MatrixXd rows(0, d + 1);
    for (std::size_t first = 0; first < observed.size(); first += slab) {
      const auto some = observed.subspan(first, std::min(slab, observed.size() - first));
      Eigen::Index at = rows.rows();
      rows.conservativeResize(at + static_cast<Eigen::Index>(some.size()), Eigen::NoChange);
      for (const NodeReward& one : some) {
        for (Eigen::Index c = 0; c < d; ++c) rows(at, c) = one.context[c];
        rows(at++, d) = one.reward;
      }
      if (rows.rows() <= d) continue;
      const Eigen::HouseholderQR<Eigen::MatrixXd> factor(rows);
      rows = Eigen::MatrixXd(factor.matrixQR().topRows(d).triangularView<Eigen::Upper>());
    }
    contexts = rows.leftCols(d).transpose();
    rewards = rows.col(d);
  }
};

}  // namespace goblin
