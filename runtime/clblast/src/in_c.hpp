// CLBlast's functions for C beside those for C++: names and types, and the arguments of one as those of the other.
#pragma once

#include <clblast.h>
#include <clblast_c.h>

#include <complex>

namespace clbake::door {

template <typename Function>
struct Named {
  const char* name;
};

#define CLBAKE_NAMED(function) \
  door::Named<decltype(function)> { #function }

// The functions of GEMM whose elements are T.
template <typename T>
struct InC;
#define CLBAKE_IN_C(letter, element)                                                                \
  template <>                                                                                       \
  struct InC<element> {                                                                             \
    static constexpr auto gemm = CLBAKE_NAMED(CLBlast##letter##gemmWithTempBuffer);                 \
    static constexpr auto gemm_batched = CLBAKE_NAMED(CLBlast##letter##gemmBatched);                \
    static constexpr auto gemm_strided_batched = CLBAKE_NAMED(CLBlast##letter##gemmStridedBatched); \
  };
CLBAKE_IN_C(H, cl_half)
CLBAKE_IN_C(S, float)
CLBAKE_IN_C(D, double)
CLBAKE_IN_C(C, std::complex<float>)
CLBAKE_IN_C(Z, std::complex<double>)
#undef CLBAKE_IN_C

template <typename T>
T to_c(T same) {
  return same;
}
inline CLBlastLayout to_c(clblast::Layout layout) { return static_cast<CLBlastLayout>(layout); }
inline CLBlastTranspose to_c(clblast::Transpose transpose) { return static_cast<CLBlastTranspose>(transpose); }
inline cl_float2 to_c(std::complex<float> x) { return {{x.real(), x.imag()}}; }
inline cl_double2 to_c(std::complex<double> x) { return {{x.real(), x.imag()}}; }
inline const cl_float2* to_c(const std::complex<float>* x) { return reinterpret_cast<const cl_float2*>(x); }
inline const cl_double2* to_c(const std::complex<double>* x) { return reinterpret_cast<const cl_double2*>(x); }

template <typename T>
T& from_c(T& same) {
  return same;
}
inline clblast::Layout from_c(CLBlastLayout layout) { return static_cast<clblast::Layout>(layout); }
inline clblast::Transpose from_c(CLBlastTranspose transpose) { return static_cast<clblast::Transpose>(transpose); }
inline std::complex<float> from_c(cl_float2 x) { return {x.s[0], x.s[1]}; }
inline std::complex<double> from_c(cl_double2 x) { return {x.s[0], x.s[1]}; }
inline const std::complex<float>* from_c(const cl_float2* x) { return reinterpret_cast<const std::complex<float>*>(x); }
inline const std::complex<double>* from_c(const cl_double2* x) {
  return reinterpret_cast<const std::complex<double>*>(x);
}

}  // namespace clbake::door
