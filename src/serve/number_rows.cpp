#include "serve/number_rows.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace goblin::serve {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::array<double, 16> powers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr std::array<std::uint64_t, 9> whole_powers = {1,       10,        100,        1'000,      10'000,
                                                       100'000, 1'000'000, 10'000'000, 100'000'000};
// Up to here a whole number and a power of ten are doubles without rounding, so that one division rounds correctly.
constexpr std::size_t most_digits = 15;

bool is_space(char one) { return one == ' ' || one == '\t' || one == '\n' || one == '\r'; }

/// The value of eight digits, each in a byte of its own, the first one lowest.
std::uint64_t value_of(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8U);
  constexpr std::uint64_t mask = 0x000000FF000000FFU;
  digits = ((digits & mask) * 0x000F424000000064U + ((digits >> 16U) & mask) * 0x0000271000000001U) >> 32U;
  return digits & 0xFFFFFFFFU;
}

/// Up to eight digits at once: how many there are, and their value. Eight bytes are read.
struct Digits {
  std::size_t count;
  std::uint64_t value;
};
Digits digits_at(const char* text) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, 8);
  bytes ^= 0x3030303030303030U;  // a digit becomes its value
  const std::uint64_t others = ((bytes + 0x7676767676767676U) | bytes) & 0x8080808080808080U;
  const auto count = others == 0 ? 8U : static_cast<unsigned>(std::countr_zero(others)) / 8U;
  if (count == 0) return {0, 0};
  bytes <<= 8U * (8U - count);  // zeros in front
  return {count, value_of(bytes)};
}

class Reader {
 public:
  Reader(std::string_view text) : at_(text.data()), begin_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] std::size_t read() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] bool take(char one) {
    if (at_ < end_ && *at_ == one) {  // nearly always
      ++at_;
      return true;
    }
    while (at_ < end_ && is_space(*at_)) ++at_;
    if (at_ >= end_ || *at_ != one) return false;
    ++at_;
    return true;
  }
  /// Reads numbers with one digit before their points and six behind them, as "%.6f" writes those between -1 and 1,
  /// each with a comma behind it. How many there were, at most `most`; what follows is something else.
  [[nodiscard]] std::size_t usual_numbers(double* out, std::size_t most) {
    std::size_t count = 0;
    const char* at = at_;
    for (; count < most && end_ - at >= 10; ++count) {
      const bool negative = *at == '-';
      const char* const digits = at + static_cast<std::ptrdiff_t>(negative);
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, digits, 8);
      bytes ^= 0x3030303030302E30U;  // digits become their values, the point becomes 0
      if ((((bytes + 0x7676767676767F76U) | bytes) & 0x8080808080808080U) != 0 || digits[8] != ',') break;
      const std::uint64_t value = value_of((bytes & ~std::uint64_t{0xFFFF}) | ((bytes & 0xFFU) << 8U));
      out[count] = with_sign(static_cast<double>(static_cast<std::int64_t>(value)) / powers[6], negative);
      at = digits + 9;
    }
    at_ = at;
    return count;
  }
  [[nodiscard]] bool number(double& out) {
    while (at_ < end_ && is_space(*at_)) ++at_;
    const char* const first = at_;
    const bool negative = at_ < end_ && *at_ == '-';
    at_ += static_cast<std::ptrdiff_t>(negative);
    std::uint64_t value = 0;
    const std::size_t whole = has_one_digit() ? one_digit(value) : run(value);
    if (whole == 0 || (whole > 1 && at_[-static_cast<std::ptrdiff_t>(whole)] == '0')) return false;
    std::size_t decimals = 0;
    if (at_ < end_ && *at_ == '.') {
      ++at_;
      decimals = run(value);
      if (decimals == 0) return false;
    }
    const bool has_exponent = at_ < end_ && (*at_ == 'e' || *at_ == 'E');
    if (has_exponent) {
      ++at_;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      std::uint64_t ignored = 0;
      if (run(ignored) == 0) return false;
    }
    if (at_ > end_) return false;  // digits that happen to stand behind the text
    if (!has_exponent && whole + decimals <= most_digits) {
      out = with_sign(static_cast<double>(static_cast<std::int64_t>(value)) / powers[decimals], negative);
      return true;
    }
    const auto [stop, error] = std::from_chars(first, at_, out);
    return error == std::errc() && stop == at_;
  }

 private:
  /// The sign without a branch: nobody can predict it.
  static double with_sign(double size, bool negative) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | (static_cast<std::uint64_t>(negative) << 63U));
  }
  /// A digit and a point, as most numbers begin.
  [[nodiscard]] bool has_one_digit() const {
    return end_ - at_ >= 2 && at_[1] == '.' && static_cast<unsigned char>(*at_ - '0') < 10;
  }
  std::size_t one_digit(std::uint64_t& value) {
    value = static_cast<std::uint64_t>(*at_++ - '0');
    return 1;
  }
  /// Takes all digits, and puts them behind those of the value; says how many there were. The value of more than
  /// `most_digits` means nothing.
  std::size_t run(std::uint64_t& value) {
    std::size_t count = 0;
    while (at_ < end_) {
      const Digits some = digits_at(at_);
      value = value * whole_powers[some.count] + some.value;
      count += some.count;
      at_ += some.count;
      if (some.count < 8) break;
    }
    return count;
  }

  const char* at_;
  const char* begin_;
  const char* end_;
};

}  // namespace

std::optional<std::size_t> read_number_rows(std::string_view text, std::size_t columns, std::size_t most_rows,
                                            std::vector<double>& numbers) {
  Reader reader(text);
  if (columns == 0 || !reader.take('[')) return std::nullopt;
  for (std::size_t row = 0; row < most_rows; ++row) {
    if (!reader.take('[')) return std::nullopt;
    const std::size_t before = numbers.size();
    numbers.resize(before + columns);
    for (std::size_t k = reader.usual_numbers(&numbers[before], columns - 1); k < columns; ++k) {
      if (!reader.number(numbers[before + k]) || !reader.take(k + 1 < columns ? ',' : ']')) return std::nullopt;
    }
    if (reader.take(']')) return reader.read();
    if (!reader.take(',')) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace goblin::serve
