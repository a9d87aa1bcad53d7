#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// Numbers as bytes, to be kept by the million. Those with few decimals, as people and programs write them, take three
/// or four bytes each: a first byte says how many decimals, then comes each number without its point. Others take
/// eight.
///
///     k (1 byte, 0 to 9)      | round(10^k number) (3 bytes each, lowest first), if that gives every number back
///     16 + k (1 byte)         | the same with 4 bytes each
///     255 (1 byte)            | the numbers (8 bytes each, IEEE 754, lowest first)
///
/// What comes back is the same to the bit, but for the sign of a zero: -0 comes back as 0 where others have few
/// decimals. That changes no score and no evidence, as these are sums that begin with 0, and 0 + -0 is 0; and data that
/// was rounded is full of -0, which would take eight bytes for every number beside it.
[[nodiscard]] std::string packed(std::span<const double> numbers);
/// The same to the bit, with -0 too, for what is learned from.
[[nodiscard]] std::string packed_with_signs(std::span<const double> numbers);
/// Nothing if the bytes are none of these.
[[nodiscard]] std::vector<double> unpacked(std::string_view bytes);

}  // namespace goblin::serve
