#pragma once

#include "goblin/belief/options.hpp"
#include "goblin/belief/solve_summary.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <vector>

namespace goblin {

/// How much of an estimate came from the rewards of one user.
struct Contribution {
  NodeId user = 0;          ///< or a node, where Explanation::per_node says so
  double value = 0.0;       ///< u_j.c_j
  std::size_t rewards = 0;  ///< of this user, over which c_j is the sum
  /// |value - exact value| <= bound. 0 where the engine is exact, as in Decision::bounds.
  double bound = 0.0;
};

/// Where the uncertainty of an estimate comes from, as shares of the variance x^T C_i x: of the square of the width,
/// that is. With u as in Explanation, phi the context at the user's node, theta the users' true vectors and e the noise
/// of the rewards,
///
///     estimate - truth  =  u.c - phi.theta  =  u.e - (A u).theta,     so that     variance = u^T A u + sum u_j^T S_j
///     u_j
///
/// exactly, where noise has variance 1 and theta is as the prior says. The first part is what no reward has told: the
/// prior's. The others are the noise in what the rewards told, each user's. A user of whom nothing is known has a prior
/// share of 1; with many own rewards nearly everything is their noise, and the whole is small. The shares add up to 1
/// (to 0 for a context of zeros, of which nothing is uncertain).
struct WidthShares {
  double own = 0.0;          ///< noise in the user's own rewards
  double others = 0.0;       ///< noise in those of others
  double prior = 0.0;        ///< what no reward has told
  double unexplained = 0.0;  ///< local: what may lie beyond the nodes that it looked at
};

/// Whose rewards an estimate came from: what Bandit::explain gives.
///
/// The estimate is linear in the rewards. With N, phi_i and c as in Bandit, and N u = phi_i(x),
///
///     mean(x) = x.w_i = phi_i(x)^T N^{-1} c = u.c = sum over users j of u_j.c_j,
///
/// where users who share a node share its u. A contribution is such a term: what of the mean would go if c_j, the
/// user's sum of rewards times contexts, were zero and everything else stayed. It is not what the mean would lose if
/// the user had never been there, as the user's contexts would then be missing in N, too.
struct Explanation {
  NodeId user = 0;
  /// The sum of all contributions; with local also what is known to come from further away. It is solved for anew, so
  /// it may differ from that of Bandit::select by as much as the engine's means can be off: by rounding with dense, by
  /// the tolerance with sparse, by the bound with local.
  double mean = 0.0;
  /// As in Decision. local: of the upper end of the variance, so not below the exact one.
  double width = 0.0;
  WidthShares width_shares;
  /// The k largest, by size, the largest first; those of equals by index. Only users with rewards are listed.
  std::vector<Contribution> contributions;
  /// The sum of all others that were found, and how many users they are of.
  double rest = 0.0;
  std::size_t rest_count = 0;
  /// 0 where the engine is exact. local looks at the surroundings of the user only: |exact mean - (contributions +
  /// rest)| is not above this, nor is |mean - (contributions + rest)|.
  double unexplained = 0.0;
  /// Evidence is kept for the nodes only (BanditOptions::evidence_per_node): Contribution::user is a node, `own` in
  /// width_shares is all evidence of the user's node, and edges are those of Bandit::node_graph.
  bool per_node = false;
  /// The user, or the user's node where per_node.
  NodeId own = 0;
  /// How the contributors hang together with the user: edges among all of them and those on a shortest way between.
  /// They are those that rewards pass over, where every user has a node; those of Bandit::graph where users share
  /// nodes, or a hub joins everybody.
  std::vector<Edge> edges;
  EngineKind engine = EngineKind::dense;
  SolveSummary solve;
};

/// Where to draw a user (or a node) of an explanation.
struct ExplanationPlace {
  NodeId user = 0;
  double x = 0.0;  ///< the user who is explained is at 0, friends at distance 1, their friends at 2, ...
  double y = 0.0;
  double value = 0.0;        ///< the contribution; 0 for those who are only on the way
  bool contributes = false;  ///< is among Explanation::contributions
};

/// A place for everybody in an explanation, the user first: rings around the user, whoever hangs on somebody behind
/// them. The same explanation is always drawn alike.
[[nodiscard]] std::vector<ExplanationPlace> places_of(const Explanation& explanation);

}  // namespace goblin
