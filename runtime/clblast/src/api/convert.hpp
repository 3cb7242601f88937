// CLBlast's arguments as clbake's.
#pragma once

#include "serve/serve.hpp"

#include <CL/cl_half.h>

#include <complex>
#include <cstddef>

namespace clbake::door {

template <typename T>
constexpr Precision kPrecision = Precision::half_precision;  // cl_half
template <>
constexpr Precision kPrecision<float> = Precision::single_precision;
template <>
constexpr Precision kPrecision<double> = Precision::double_precision;
template <>
constexpr Precision kPrecision<std::complex<float>> = Precision::complex_single;
template <>
constexpr Precision kPrecision<std::complex<double>> = Precision::complex_double;

inline std::complex<double> number(cl_half bits) { return cl_half_to_float(bits); }
template <typename T>
std::complex<double> number(T value) {
  return value;
}

// The product that CLBlast's arguments describe. The conjugate transpose of real numbers is their transpose.
template <typename T>
Problem problem(clblast::Layout layout, clblast::Transpose a_transpose, clblast::Transpose b_transpose, std::size_t m,
                std::size_t n, std::size_t k, std::size_t a_ld, std::size_t b_ld, std::size_t c_ld) {
  Problem p;
  p.precision = kPrecision<T>;
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
