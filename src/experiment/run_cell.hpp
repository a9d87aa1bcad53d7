#pragma once

#include "goblin/experiment/cell.hpp"
#include "goblin/graph/graph.hpp"

#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace goblin::experiment {

using Labels = std::vector<NodeId>;

/// Clusterings, each made once, by the first thread that asks for it.
class Clusterings {
 public:
  std::shared_future<Labels> get(const Cell& cell, const Graph& graph);

 private:
  std::mutex lock_;
  std::map<std::string, std::shared_future<Labels>> made_;
};

/// Runs a cell on this thread. Nothing if it was stopped.
[[nodiscard]] std::optional<Outcome> run_cell(const Cell& cell, Clusterings& clusterings, const RunOptions& options);

}  // namespace goblin::experiment
