// CLBlast's arguments as clbake's.
#pragma once

#include "serve/serve.hpp"

#include <CL/cl_half.h>

#include <complex>
#include <cstddef>

namespace clbake::door {

template <typename T>
struct Element;
template <>
struct Element<cl_half> {
  static constexpr Precision precision = Precision::half_precision;
};
template <>
struct Element<float> {
  static constexpr Precision precision = Precision::single_precision;
};
template <>
struct Element<double> {
  static constexpr Precision precision = Precision::double_precision;
};

template <>
struct Element<std::complex<float>> {
  static constexpr Precision precision = Precision::complex_single;
};
template <>
struct Element<std::complex<double>> {
  static constexpr Precision precision = Precision::complex_double;
};

inline std::complex<double> number(cl_half bits) { return cl_half_to_float(bits); }
inline std::complex<double> number(float value) { return value; }
inline std::complex<double> number(double value) { return value; }
inline std::complex<double> number(std::complex<float> value) { return value; }
inline std::complex<double> number(std::complex<double> value) { return value; }

// The product of which CLBlast's arguments tell. Of real numbers, a conjugate transpose is a transpose.
template <typename T>
Problem problem(clblast::Layout layout, clblast::Transpose a_transpose, clblast::Transpose b_transpose, std::size_t m,
                std::size_t n, std::size_t k, std::size_t a_ld, std::size_t b_ld, std::size_t c_ld) {
  Problem p;
  p.precision = Element<T>::precision;
  p.trans_a = a_transpose != clblast::Transpose::kNo;
  p.trans_b = b_transpose != clblast::Transpose::kNo;
  p.conj_a = is_complex(p.precision) && a_transpose == clblast::Transpose::kConjugate;
  p.conj_b = is_complex(p.precision) && b_transpose == clblast::Transpose::kConjugate;
  p.layout = layout == clblast::Layout::kRowMajor ? Layout::row_major : Layout::column_major;
  p.m = m;
  p.n = n;
  p.k = k;
  p.lda = a_ld;
  p.ldb = b_ld;
  p.ldc = c_ld;
  return p;
}

}  // namespace clbake::door
