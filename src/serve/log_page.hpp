#pragma once

#include "serve/record.hpp"

#include <functional>
#include <optional>
#include <string>

namespace goblin::serve {

/// Appends a record as a line in the format that replay, fit, tune and evaluate read, if it is one that they learn
/// from: a reward for a decision stands there as the logged decision with its reward, a reward on its own, or for a
/// place in a ranking, as a context to learn. `decision` finds the decision of an offset, and `outward` says what a
/// decision is called outside.
void append_event(std::string& lines, const Record& record,
                  const std::function<std::optional<Record>(Offset)>& decision,
                  const std::function<std::string(std::string)>& outward);

}  // namespace goblin::serve
