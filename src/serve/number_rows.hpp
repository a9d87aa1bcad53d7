#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// How many bytes behind a text must be readable, whatever they are.
constexpr std::size_t number_rows_padding = 8;

/// Reads a JSON array of arrays of numbers, `[[0.1,-2],[3e1,4]]`, which stands at the beginning of the text, each of
/// them with `columns` numbers, and appends the numbers. Gives how many bytes the array has; nothing if it is not of
/// that form, has more than `most_rows`, or a number is out of range: whoever asks then reads it in another way, and
/// says what is wrong. What was appended by then means nothing.
///
/// Numbers are the same to the bit as those of any other reader that rounds correctly. It is here because contexts are
/// nearly all that requests consist of, and need no reader of any JSON.
[[nodiscard]] std::optional<std::size_t> read_number_rows(std::string_view text, std::size_t columns,
                                                          std::size_t most_rows, std::vector<double>& numbers);

}  // namespace goblin::serve
