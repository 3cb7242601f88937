// The words for a product that every folder shares: its precision and which operands are transposed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace clbake {

// Type of one element in memory.
enum class Element : std::uint32_t {
  single = 1,
  real_double = 2,
  half = 3,            // IEEE 754's
  bfloat16 = 4,        // the upper half of a single: 8 bits of exponent, 7 of fraction
  complex_single = 5,  // a real and an imaginary part side by side, as in cl_float2 and cl_double2
  complex_double = 6,
  int8 = 7,
  uint8 = 8,
  int32 = 9,
  e4m3 = 10,  // "OCP 8-bit Floating Point Specification (OFP8)", 1.0: exponent, fraction
  e5m2 = 11,
  q4 = 12,  // packed weights (kernels/WEIGHTS.md) of 4 and of 8 bits, which are addressed by bytes
  q8 = 13,
};

constexpr bool is_weights(Element element) { return element == Element::q4 || element == Element::q8; }

constexpr std::uint32_t bytes_of(Element element) {
  switch (element) {
    case Element::single:
    case Element::int32: return 4;
    case Element::real_double:
    case Element::complex_single: return 8;
    case Element::half:
    case Element::bfloat16: return 2;
    case Element::complex_double: return 16;
    case Element::int8:
    case Element::uint8:
    case Element::e4m3:
    case Element::e5m2:
    case Element::q4:
    case Element::q8: break;
  }
  return 1;
}

constexpr const char* name(Element element) {
  switch (element) {
    case Element::single: return "single";
    case Element::real_double: return "double";
    case Element::half: return "half";
    case Element::bfloat16: return "bfloat16";
    case Element::complex_single: return "complex-single";
    case Element::complex_double: return "complex-double";
    case Element::int8: return "int8";
    case Element::uint8: return "uint8";
    case Element::int32: return "int32";
    case Element::e4m3: return "e4m3";
    case Element::e5m2: return "e5m2";
    case Element::q4: return "q4";
    case Element::q8: return "q8";
  }
  return "unknown";
}

// Element types of A, B and C. The numbers are those of the bundle format: the one type of all three, or of a *mixed*
// product A's + B's * 2^8 + C's * 2^16. Half and bfloat16 are computed in single, bytes in 32-bit integers or single.
enum class Precision : std::uint32_t {
  single_precision = 1,
  double_precision = 2,
  half_precision = 3,
  bfloat16 = 4,
  complex_single = 5,
  complex_double = 6,
};

constexpr Precision mixed(Element a, Element b, Element c) {
  return Precision{static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 8 |
                   static_cast<std::uint32_t>(c) << 16};
}

// The real ones, in which kernels compute. A complex product is a real one of rearranged operands (RUNTIME.md), so that
// no variant, rule or cost model is complex.
constexpr Precision all_precisions[] = {Precision::half_precision, Precision::bfloat16, Precision::single_precision,
                                        Precision::double_precision};
constexpr Precision complex_precisions[] = {Precision::complex_single, Precision::complex_double};

// The mixed ones, in ascending order. A and B are both integers (int8, uint8) or both floating point (e4m3, e5m2). C is
// single, half or bfloat16; of integers also int8, uint8 or int32, of floating point also e4m3 or e5m2. Or B is
// weights, A single, half or bfloat16, and C of A's type or single.
constexpr std::size_t kMixedPrecisions = 54;
constexpr std::array<Precision, kMixedPrecisions> make_mixed_precisions() {
  constexpr Element integers[] = {Element::int8, Element::uint8};
  constexpr Element reals[] = {Element::e4m3, Element::e5m2};
  constexpr Element weights[] = {Element::q4, Element::q8};
  constexpr Element wide[] = {Element::single, Element::half, Element::bfloat16};
  constexpr Element results[] = {Element::single, Element::half,  Element::bfloat16, Element::int8,
                                 Element::uint8,  Element::int32, Element::e4m3,     Element::e5m2};
  std::array<Precision, kMixedPrecisions> all{};
  std::size_t count = 0;
  for (const Element c : results) {
    const bool of_reals = c == Element::e4m3 || c == Element::e5m2;
    const bool of_integers = c == Element::int8 || c == Element::uint8 || c == Element::int32;
    for (int kind = of_reals ? 1 : 0; kind < (of_integers ? 1 : 2); ++kind) {
      for (int b = 0; b < 2; ++b) {
        for (int a = 0; a < 2; ++a) {
          all[count++] = kind == 0 ? mixed(integers[a], integers[b], c) : mixed(reals[a], reals[b], c);
        }
      }
    }
    for (const Element b : weights) {
      for (const Element a : wide) {
        if (a == c || c == Element::single) all[count++] = mixed(a, b, c);
      }
    }
  }
  return all;
}
inline constexpr std::array<Precision, kMixedPrecisions> mixed_precisions = make_mixed_precisions();

// All in which kernels compute.
constexpr std::array<Precision, 4 + kMixedPrecisions> make_product_precisions() {
  std::array<Precision, 4 + kMixedPrecisions> all{};
  std::size_t count = 0;
  for (const Precision precision : all_precisions) all[count++] = precision;
  for (const Precision precision : mixed_precisions) all[count++] = precision;
  return all;
}
inline constexpr std::array<Precision, 4 + kMixedPrecisions> product_precisions = make_product_precisions();

// That of a variant which computes no product: an application's own program. Nothing else has it.
constexpr Precision no_precision{0};

constexpr bool is_mixed(Precision precision) { return static_cast<std::uint32_t>(precision) > 0xFF; }

// The element types of a precision that is known.
constexpr Element element_a(Precision p) { return Element{static_cast<std::uint32_t>(p) & 0xFF}; }
constexpr Element element_b(Precision p) {
  return is_mixed(p) ? Element{static_cast<std::uint32_t>(p) >> 8 & 0xFF} : element_a(p);
}
constexpr Element element_c(Precision p) {
  return is_mixed(p) ? Element{static_cast<std::uint32_t>(p) >> 16} : element_a(p);
}

// Bytes of one element of A, B and C. Requires a precision that is not mixed.
constexpr std::uint32_t element_bytes(Precision p) { return bytes_of(element_a(p)); }

// True when A and B are integers.
constexpr bool sums_integers(Precision p) {
  return is_mixed(p) && (element_a(p) == Element::int8 || element_a(p) == Element::uint8);
}

// True when B is weights, or A, where a column-major problem states it. Such a product is one of C's precision in all
// but its operands.
constexpr bool has_weights(Precision p) { return is_weights(element_b(p)) || is_weights(element_a(p)); }

constexpr bool has_16_bits(Precision precision) {
  return precision == Precision::half_precision || precision == Precision::bfloat16;
}

constexpr bool is_complex(Precision precision) {
  return precision == Precision::complex_single || precision == Precision::complex_double;
}

// The precision of a complex element's parts; another precision itself.
constexpr Precision real_precision(Precision precision) {
  return precision == Precision::complex_single   ? Precision::single_precision
         : precision == Precision::complex_double ? Precision::double_precision
                                                  : precision;
}

// "half", "bfloat16", "single", "double", "complex-single", "complex-double"; of a mixed product the names of its three
// types, as "int8-uint8-int32"; "unknown" for a number that is none of them.
inline std::string name(Precision p) {
  const std::string a = name(element_a(p));
  return is_mixed(p) ? a + "-" + name(element_b(p)) + "-" + name(element_c(p)) : a;
}

constexpr const char* precision_names =
    "half, bfloat16, single, double, complex-single, complex-double, or types of A, B and C as int8-int8-int32 or "
    "half-q4-half";

// Kind of product, for which a kernel is compiled, and which a rule, a cost model or a shape describes:
// C = alpha * op(A) * op(B) + beta * C, op(X) = X or its transpose.
struct GemmKind {
  Precision precision = Precision::single_precision;
  bool trans_a = false;  // op(A) = A^T: A is stored k x m
  bool trans_b = false;  // op(B) = B^T: B is stored n x k

  const GemmKind& kind() const { return *this; }  // of what derives from it
  GemmKind& kind() { return *this; }
};
inline bool operator==(const GemmKind& a, const GemmKind& b) {
  return a.precision == b.precision && a.trans_a == b.trans_a && a.trans_b == b.trans_b;
}
inline bool operator!=(const GemmKind& a, const GemmKind& b) { return !(a == b); }
inline bool operator<(const GemmKind& a, const GemmKind& b) {
  return std::tie(a.precision, a.trans_a, a.trans_b) < std::tie(b.precision, b.trans_a, b.trans_b);
}

// A number for each kind but complex ones, from 0 to kKinds - 1, in the order of the kinds.
constexpr std::size_t kKinds = 4 * (4 + kMixedPrecisions);
constexpr std::size_t index_of(const GemmKind& kind) {
  std::size_t precision = static_cast<std::size_t>(kind.precision) - 1;
  if (is_mixed(kind.precision)) {
    precision = 4;
    while (precision + 1 < kKinds / 4 && mixed_precisions[precision - 4] != kind.precision) ++precision;
  }
  return precision * 4 + (kind.trans_a ? 2U : 0U) + (kind.trans_b ? 1U : 0U);
}

}  // namespace clbake
