#include "bandit/node_priors.hpp"

#include "bandit/checks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

/// The ridge that the caller gave a node.
double given_ridge(const BanditOptions& options, NodeId node) {
  return node < options.node_ridges.size() ? options.node_ridges[node] : *options.ridge;
}

}  // namespace

NodePrior node_prior(const BanditOptions& options, NodeId node, double degree) {
  const double ridge = given_ridge(options, node);
  if (options.laplacian == Laplacian::combinatorial || degree == 0.0) return {node, ridge, 1.0};
  if (!(ridge * degree >= 1e-100 && ridge * degree <= 1e100)) {
    throw std::invalid_argument(
        fmt::format("degree: {:g} of node {} (must be between {:g} and {:g} beside this ridge; scale the weights)",
                    degree, node, 1e-100 / ridge, 1e100 / ridge));
  }
  return {node, ridge * degree, std::sqrt(degree)};
}

std::vector<double> normalized_ridges(const BanditOptions& options, const Graph& nodes) {
  // Every degree is 1 here, so that the limit is one of the coupling; it holds for nodes that come later, too.
  double smallest = *options.ridge;
  for (const double ridge : options.node_ridges) smallest = std::min(smallest, ridge);
  if (options.coupling > Limits::coupling * smallest) {
    throw std::invalid_argument(fmt::format("coupling: {:g} (must be at most {:g} beside this ridge)", options.coupling,
                                            Limits::coupling * smallest));
  }
  std::vector<double> ridges;
  for (NodeId node = 0; node < nodes.node_count(); ++node) {
    ridges.push_back(node_prior(options, node, nodes.degree(node)).ridge);
  }
  return ridges;
}

Lenses lenses_for(Policy policy, const BanditOptions& options, const Graph& nodes) {
  if (policy == Policy::linucb_hash) {
    return Lenses::hashing(options.weight_count(), options.hash.buckets, options.hash.seed);
  }
  if (options.laplacian == Laplacian::combinatorial) return Lenses(options.weight_count());
  std::vector<double> factors;
  for (NodeId node = 0; node < nodes.node_count(); ++node) {
    factors.push_back(node_prior(options, node, nodes.degree(node)).factor);
  }
  return Lenses::scaling(options.weight_count(), std::move(factors));
}

std::size_t node_dimension(Policy policy, const BanditOptions& options) {
  return policy == Policy::linucb_hash ? options.hash.buckets : options.weight_count();
}

}  // namespace goblin
