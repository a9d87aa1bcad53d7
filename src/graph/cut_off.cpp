#include "graph/cut_off.hpp"

#include "graph/places.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace goblin {
namespace {

/// Breadth-first.
struct Search {
  std::vector<NodeId> done;   // nodes whose edges were walked before it met another search
  std::vector<NodeId> queue;  // all other nodes that were reached
  std::size_t at = 0;         // the place in the queue of the node whose edges are walked
  std::size_t edge = 0;       // the next of them

  [[nodiscard]] std::size_t size() const { return done.size() + queue.size(); }
  [[nodiscard]] std::vector<NodeId> nodes() const {
    std::vector<NodeId> all = done;
    all.insert(all.end(), queue.begin(), queue.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  void take_over(const Search& other) {
    const auto next = other.queue.begin() + static_cast<std::ptrdiff_t>(other.at);
    done.insert(done.end(), other.done.begin(), other.done.end());
    done.insert(done.end(), other.queue.begin(), next);
    queue.insert(queue.end(), next, other.queue.end());
  }
};

class Searches {
 public:
  Searches(const EditableGraph& graph, std::span<const NodeId> from)
      : graph_(graph), searches_(from.size()), joined_to_(from.size()), going_on_(from.size()) {
    std::iota(joined_to_.begin(), joined_to_.end(), 0);
    places_.clear();
    for (std::size_t k = 0; k < from.size(); ++k) {
      searches_[k].queue.push_back(from[k]);
      places_.find_or_add(from[k], static_cast<NodeId>(k));
      reached_by_.push_back(static_cast<NodeId>(k));
    }
  }

  std::vector<std::vector<NodeId>> parts() {
    std::vector<std::vector<NodeId>> parts;
    std::vector<NodeId> turns = joined_to_;
    while (going_on_ > 1) {
      std::vector<NodeId> next;
      for (const NodeId one : turns) {
        if (going_on_ == 1) break;
        if (joined_to_[one] != one) continue;
        if (walk(one)) {
          next.push_back(one);
        } else {
          parts.push_back(searches_[one].nodes());
          --going_on_;
        }
      }
      turns = std::move(next);
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
    return parts;
  }

 private:
  /// The search that one of them is part of by now.
  NodeId whole(NodeId one) {
    while (joined_to_[one] != one) one = joined_to_[one] = joined_to_[joined_to_[one]];
    return one;
  }

  /// Walks an edge; false if there is none left. `one` keeps its number if it meets another.
  bool walk(NodeId one) {
    Search& search = searches_[one];
    while (search.at < search.queue.size() && search.edge == graph_.neighbours(search.queue[search.at]).size()) {
      ++search.at;
      search.edge = 0;
    }
    if (search.at == search.queue.size()) return false;
    const NodeId next = graph_.neighbours(search.queue[search.at])[search.edge++];
    const NodeId place = places_.find_or_add(next, static_cast<NodeId>(reached_by_.size()));
    if (place == reached_by_.size()) {
      search.queue.push_back(next);
      reached_by_.push_back(one);
      return true;
    }
    const NodeId other = whole(reached_by_[place]);
    if (other == one) return true;
    Search& met = searches_[other];
    if (search.size() < met.size()) std::swap(search, met);
    search.take_over(met);
    met = {};
    joined_to_[other] = one;
    --going_on_;
    return true;
  }

  const EditableGraph& graph_;
  std::vector<Search> searches_;
  std::vector<NodeId> joined_to_;  // another search, or itself
  std::size_t going_on_;           // searches
  Places places_;                  // of the nodes that were reached
  std::vector<NodeId> reached_by_;
};

}  // namespace

std::vector<std::vector<NodeId>> cut_off(const EditableGraph& graph, std::span<const NodeId> from) {
  return Searches(graph, from).parts();
}

}  // namespace goblin
