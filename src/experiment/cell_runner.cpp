#include "goblin/experiment/cell_runner.hpp"

#include "experiment/run_cell.hpp"

#include <utility>

namespace goblin::experiment {

struct CellRunner::Shared {
  std::vector<Condition> conditions;
  Clusterings clusterings = {};
};

CellRunner::CellRunner(std::vector<Condition> conditions) : shared_(new Shared{std::move(conditions)}) {}
CellRunner::CellRunner(CellRunner&&) noexcept = default;
CellRunner& CellRunner::operator=(CellRunner&&) noexcept = default;
CellRunner::~CellRunner() = default;

std::optional<std::string> CellRunner::run(std::string_view cell, const RunOptions& options) const {
  const Cell wanted = unpacked_cell(cell, shared_->conditions);
  const auto outcome = run_cell(wanted, shared_->clusterings, options);
  if (!outcome) return std::nullopt;
  return packed(wanted, *outcome);
}

}  // namespace goblin::experiment
