// Where to draw what an explanation is about.

#include "goblin/bandit/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

namespace goblin {
namespace {

/// Everybody who is drawn, as a tree with the user who is explained as its root: whoever is joined to somebody nearer
/// to the user hangs on one of these. Those whom no edge joins to the user hang on nobody.
class Tree {
 public:
  explicit Tree(const Explanation& explanation) {
    node_of(explanation.own);
    for (const Contribution& one : explanation.contributions) {
      ExplanationPlace& place = nodes_[node_of(one.user)].place;
      place.value = one.value;
      place.contributes = true;
    }
    std::vector<std::vector<std::size_t>> neighbours;
    for (const Edge& edge : explanation.edges) {
      const std::size_t a = node_of(edge.a);
      const std::size_t b = node_of(edge.b);
      neighbours.resize(nodes_.size());
      neighbours[a].push_back(b);
      neighbours[b].push_back(a);
    }
    neighbours.resize(nodes_.size());
    nodes_[0].reached = true;
    order_.push_back(0);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      // Who contributes much comes first.
      auto& next = neighbours[order_[at]];
      std::sort(next.begin(), next.end());
      for (const std::size_t node : next) {
        if (nodes_[node].reached) continue;
        nodes_[node].reached = true;
        nodes_[node].depth = nodes_[order_[at]].depth + 1;
        nodes_[order_[at]].children.push_back(node);
        order_.push_back(node);
      }
    }
  }

  /// Every leaf has the same angle to itself, everybody else is in the middle of what hangs on them. Those who hang on
  /// nobody are on a ring outside all others.
  std::vector<ExplanationPlace> places() {
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      nodes_[*node].leaves = nodes_[*node].children.empty() ? 1 : 0;
      for (const std::size_t child : nodes_[*node].children) nodes_[*node].leaves += nodes_[child].leaves;
    }
    const std::size_t outside = nodes_[order_.back()].depth + 1;
    std::size_t first_alone = nodes_[0].children.empty() ? 0 : nodes_[0].leaves;
    const std::size_t leaves = first_alone + nodes_.size() - order_.size();
    for (const std::size_t node : order_) {
      std::size_t first = nodes_[node].first;
      for (const std::size_t child : nodes_[node].children) {
        nodes_[child].first = first;
        first += nodes_[child].leaves;
      }
    }
    std::vector<ExplanationPlace> result;
    result.reserve(nodes_.size());
    for (Node& node : nodes_) {
      if (!node.reached) {
        node.depth = outside;
        node.first = first_alone++;
      }
      const double middle = static_cast<double>(node.first) + 0.5 * static_cast<double>(node.leaves - 1);
      const double angle =
          2.0 * std::numbers::pi * (middle / static_cast<double>(std::max<std::size_t>(leaves, 1)) - 0.2);
      node.place.x = static_cast<double>(node.depth) * std::cos(angle);
      node.place.y = static_cast<double>(node.depth) * std::sin(angle);
      result.push_back(node.place);
    }
    return result;
  }

 private:
  struct Node {
    ExplanationPlace place;
    std::size_t depth = 0;
    bool reached = false;
    std::vector<std::size_t> children;
    std::size_t leaves = 1;  // that hang on it, or itself
    std::size_t first = 0;   // of them
  };

  std::size_t node_of(NodeId user) {
    const auto [known, is_new] = index_.emplace(user, nodes_.size());
    if (is_new) nodes_.emplace_back().place.user = user;
    return known->second;
  }

  std::vector<Node> nodes_;
  std::map<NodeId, std::size_t> index_;
  std::vector<std::size_t> order_;  // of those who are reached, the nearest first
};

}  // namespace

std::vector<ExplanationPlace> places_of(const Explanation& explanation) { return Tree(explanation).places(); }

}  // namespace goblin
