#pragma once

#include "goblin/experiment/cell.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Cells that run in other processes, on other machines perhaps: a few hundred bytes go there, a few thousand come
/// back.
namespace goblin::experiment {

/// A cell as bytes. Its condition goes by its key: whoever unpacks it needs the same data.
[[nodiscard]] std::string packed(const Cell& cell);
/// Throws DataError if the bytes are damaged or of another goblin, or if no condition has that key.
[[nodiscard]] Cell unpacked_cell(std::string_view bytes, std::span<const Condition> conditions);

/// What a cell found, as bytes.
[[nodiscard]] std::string packed(const Cell& cell, const Outcome& outcome);
/// Throws DataError if the bytes are damaged, of another goblin or of another cell.
[[nodiscard]] Outcome unpacked_outcome(std::string_view bytes, const Cell& cell);

/// Runs packed cells one by one; several threads may do so at the same time. What they share, clusterings of a graph
/// say, is made once.
class CellRunner {
 public:
  explicit CellRunner(std::vector<Condition> conditions);
  CellRunner(CellRunner&&) noexcept;
  CellRunner& operator=(CellRunner&&) noexcept;
  ~CellRunner();

  /// The packed outcome; nothing if it was stopped. Of the options, clock and keep_going count.
  [[nodiscard]] std::optional<std::string> run(std::string_view cell, const RunOptions& options) const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace goblin::experiment
