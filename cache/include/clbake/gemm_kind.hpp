// The words for a product that every folder shares: its precision and which operands are transposed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace clbake {

// Element type of A, B and C. The values of the real ones are those of the bundle format. The two of 16 bits are
// computed in single: IEEE 754's half, and bfloat16, the upper half of a single (8 bits of exponent, 7 of fraction). A
// complex element is a real and an imaginary part side by side, as in cl_float2 and cl_double2.
enum class Precision : std::uint32_t {
  single_precision = 1,
  double_precision = 2,
  half_precision = 3,
  bfloat16 = 4,
  complex_single = 5,
  complex_double = 6,
};

// The real ones, in which kernels compute. A complex product is a real one of rearranged operands (RUNTIME.md), so that
// no variant, rule or cost model is complex.
constexpr Precision all_precisions[] = {Precision::half_precision, Precision::bfloat16, Precision::single_precision,
                                        Precision::double_precision};
constexpr Precision complex_precisions[] = {Precision::complex_single, Precision::complex_double};

// That of a variant which computes no product: an application's own program. Nothing else has it.
constexpr Precision no_precision{0};

constexpr bool has_16_bits(Precision precision) {
  return precision == Precision::half_precision || precision == Precision::bfloat16;
}

constexpr bool is_complex(Precision precision) {
  return precision == Precision::complex_single || precision == Precision::complex_double;
}

// The precision of a complex element's parts; a real precision itself.
constexpr Precision real_precision(Precision precision) {
  return precision == Precision::complex_single   ? Precision::single_precision
         : precision == Precision::complex_double ? Precision::double_precision
                                                  : precision;
}

// Bytes of one element of A, B and C.
constexpr std::uint32_t element_bytes(Precision precision) {
  if (is_complex(precision)) return 2 * element_bytes(real_precision(precision));
  return has_16_bits(precision) ? 2 : precision == Precision::single_precision ? 4 : 8;
}

// "half", "bfloat16", "single", "double", "complex-single", "complex-double"; "unknown" for a number that is none of
// them.
constexpr const char* name(Precision precision) {
  switch (precision) {
    case Precision::half_precision: return "half";
    case Precision::bfloat16: return "bfloat16";
    case Precision::single_precision: return "single";
    case Precision::double_precision: return "double";
    case Precision::complex_single: return "complex-single";
    case Precision::complex_double: return "complex-double";
  }
  return "unknown";
}

constexpr const char* precision_names = "half, bfloat16, single, double, complex-single, complex-double";

// Kind of product, for which a kernel is compiled, and which a rule, a cost model or a shape describes:
// C = alpha * op(A) * op(B) + beta * C in one precision, op(X) = X or its transpose.
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

// A number for each kind of a real precision, from 0 to kKinds - 1.
constexpr std::size_t kKinds = 16;
constexpr std::size_t index_of(const GemmKind& kind) {
  return (static_cast<std::size_t>(kind.precision) - 1) * 4 + (kind.trans_a ? 2U : 0U) + (kind.trans_b ? 1U : 0U);
}

}  // namespace clbake
