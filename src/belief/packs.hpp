#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace goblin {

/// Four doubles, some floats and eight doubles that one operation works on, wherever they lie in an array. Compilers
/// turn them into what the machine has: one instruction, or several.
using Pack __attribute__((vector_size(32), aligned(8), may_alias)) = double;
/// Eight floats, or sixteen where a register holds them.
#if defined(__AVX512F__)
using FloatPack __attribute__((vector_size(64), aligned(4), may_alias)) = float;
#else
using FloatPack __attribute__((vector_size(32), aligned(4), may_alias)) = float;
#endif
using Lanes __attribute__((vector_size(64), aligned(8), may_alias)) = double;
inline constexpr std::size_t pack_size = 4;
inline constexpr std::size_t lane_count = 8;

inline std::size_t packs_for(std::size_t dimension) { return (dimension + pack_size - 1) / pack_size; }

inline Pack* packs(double* values) { return reinterpret_cast<Pack*>(values); }
inline const Pack* packs(const double* values) { return reinterpret_cast<const Pack*>(values); }

/// The pack of a kind of number, and the doubles that sums of such packs are kept in.
template <typename Scalar>
struct PackTypes;
template <>
struct PackTypes<float> {
  using Numbers = FloatPack;
  using Totals = Lanes;
};
template <>
struct PackTypes<double> {
  using Numbers = Pack;
  using Totals = Pack;
};
template <typename Scalar>
using PackOf = typename PackTypes<Scalar>::Numbers;
/// The numbers in a pack.
template <typename Scalar>
inline constexpr std::size_t pack_width = sizeof(PackOf<Scalar>) / sizeof(Scalar);
/// So many numbers, rounded up to whole packs.
template <typename Scalar>
std::size_t padded(std::size_t dimension) {
  return (dimension + pack_width<Scalar> - 1) / pack_width<Scalar> * pack_width<Scalar>;
}

inline FloatPack* packs(float* values) { return reinterpret_cast<FloatPack*>(values); }
inline const FloatPack* packs(const float* values) { return reinterpret_cast<const FloatPack*>(values); }

/// Eight floats.
using HalfPack __attribute__((vector_size(32))) = float;
/// A pack of floats in parts of eight: one part, or two with AVX-512.
inline constexpr std::size_t half_count = pack_width<float> / lane_count;
inline HalfPack half(const FloatPack& pack, [[maybe_unused]] std::size_t which) {
#if defined(__AVX512F__)
  return which == 0 ? __builtin_shufflevector(pack, pack, 0, 1, 2, 3, 4, 5, 6, 7)
                    : __builtin_shufflevector(pack, pack, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  return pack;
#endif
}
inline HalfPack folded(const FloatPack& pack) {
  HalfPack eight = half(pack, 0);
  for (std::size_t k = 1; k < half_count; ++k) eight += half(pack, k);
  return eight;
}

/// The sum of each pack. Several together take less than half the time: the shuffles work for all of them.
inline void sums(const FloatPack (&from)[1], float (&to)[1]) {
  using Quad __attribute__((vector_size(16))) = float;
  const HalfPack eight = folded(from[0]);
  const Quad four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const Quad two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1);
  to[0] = two[0] + two[1];
}
inline void sums(const FloatPack (&from)[4], float (&to)[4]) {
  using Quad __attribute__((vector_size(16))) = float;
  const auto fours = [](const FloatPack& pack) -> Quad {
    const HalfPack eight = folded(pack);
    return __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  };
  const auto interleaved = [](const Quad& a, const Quad& b) -> Quad {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  };
  const Quad first = interleaved(fours(from[0]), fours(from[1]));
  const Quad second = interleaved(fours(from[2]), fours(from[3]));
  const Quad all =
      __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7);
  for (std::size_t k = 0; k < 4; ++k) to[k] = all[k];
}

/// Eight doubles as an argument of a template, which forgets how Lanes are aligned.
struct LaneRow {
  Lanes values;

  LaneRow& operator+=(const LaneRow& other) {
    values += other.values;
    return *this;
  }
  LaneRow& operator-=(const LaneRow& other) {
    values -= other.values;
    return *this;
  }
  friend LaneRow operator*(double factor, const LaneRow& row) { return {factor * row.values}; }
};

/// Lane by lane; 0 where the denominator is not above 0.
inline Lanes ratio(const Lanes& numerator, const Lanes& denominator) {
  Lanes result{};
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (denominator[lane] > 0.0) result[lane] = numerator[lane] / denominator[lane];
  }
  return result;
}

inline double sum(const Pack& pack) { return (pack[0] + pack[1]) + (pack[2] + pack[3]); }
template <std::size_t Count>
void sums(const Pack (&from)[Count], double (&to)[Count]) {
  for (std::size_t k = 0; k < Count; ++k) to[k] = sum(from[k]);
}

/// Sums of packs, kept in double precision.
template <typename Scalar>
class Total {
 public:
  void add(const Pack& pack) requires std::same_as<Scalar, double> { lanes_[0] += pack; }
  void add(const FloatPack& pack) requires std::same_as<Scalar, float> {
    for (std::size_t k = 0; k < half_count; ++k) lanes_[k] += __builtin_convertvector(half(pack, k), Lanes);
  }
  [[nodiscard]] double lane(std::size_t lane) const { return lanes_[lane / width][lane % width]; }
  [[nodiscard]] double value() const {
    double total = 0.0;
    for (std::size_t each = 0; each < pack_width<Scalar>; ++each) total += lane(each);
    return total;
  }

 private:
  using Totals = typename PackTypes<Scalar>::Totals;
  static constexpr std::size_t width = sizeof(Totals) / sizeof(double);
  Totals lanes_[pack_width<Scalar> / width] = {};
};

/// Memory that begins at a cache line.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  CacheLineAllocator() = default;
  template <typename Other>
  explicit CacheLineAllocator(const CacheLineAllocator<Other>& /*other*/) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), line)); }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, line); }
  bool operator==(const CacheLineAllocator& /*other*/) const { return true; }
};
template <typename T>
using CacheLineVector = std::vector<T, CacheLineAllocator<T>>;

/// The packs of a row: in registers if their number is known when compiling, and else (Packs = 0) in memory.
template <typename Scalar, std::size_t Packs>
struct PackRow {
  alignas(sizeof(PackOf<Scalar>)) PackOf<Scalar> values[Packs];  // templates forget that packs may lie anywhere

  explicit PackRow(std::size_t /*count*/) {}
  PackOf<Scalar>& operator[](std::size_t b) { return values[b]; }
  const PackOf<Scalar>& operator[](std::size_t b) const { return values[b]; }
};
template <typename Scalar>
struct PackRow<Scalar, 0> {
  CacheLineVector<Scalar> values;

  explicit PackRow(std::size_t count) : values(count * pack_width<Scalar>) {}
  PackOf<Scalar>& operator[](std::size_t b) { return packs(values.data())[b]; }
  const PackOf<Scalar>& operator[](std::size_t b) const { return packs(values.data())[b]; }
};

/// Calls call(integral_constant<size_t, K>), K = count if that is at most 8 and else 0: inner loops over the packs of
/// a vector then have a length that the compiler knows, for d <= 32 at least, and their sums stay in registers.
template <typename Call>
decltype(auto) with_pack_count(std::size_t count, Call call) {
  switch (count) {
    case 1:
      return call(std::integral_constant<std::size_t, 1>{});
    case 2:
      return call(std::integral_constant<std::size_t, 2>{});
    case 3:
      return call(std::integral_constant<std::size_t, 3>{});
    case 4:
      return call(std::integral_constant<std::size_t, 4>{});
    case 5:
      return call(std::integral_constant<std::size_t, 5>{});
    case 6:
      return call(std::integral_constant<std::size_t, 6>{});
    case 7:
      return call(std::integral_constant<std::size_t, 7>{});
    case 8:
      return call(std::integral_constant<std::size_t, 8>{});
    default:
      return call(std::integral_constant<std::size_t, 0>{});
  }
}

}  // namespace goblin
