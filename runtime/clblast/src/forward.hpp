// CLBlast itself, for calls that clbake does not serve. CLBlast is what the program links; else what
// CLBAKE_CLBLAST_LIBRARY names, or the first of its usual names, opened by the first call that may open it; the others
// take it if it is in the process.
#pragma once

#include <clbake/os/guest.hpp>

#include <clblast.h>
#include <clblast_c.h>

#include <complex>

namespace clbake::door {

// CLBlast's functions for C beside those for C++: names and types, and the arguments of one as those of the other.

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

// The address of CLBlast's function for C++ of the same name as this library's `same`; on Windows, where compilers do
// not agree on names for C++, of its function for C. Elsewhere that one would call the function for C++, which the
// dynamic linker binds to this library. Null without CLBlast, or where its version lacks the function. Any thread.
void* original_of(const void* same, const char* name_in_c, bool may_open) noexcept;

// Calls CLBlast's function, or returns `otherwise` where there is none.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode call_or(clblast::StatusCode otherwise, bool may_open, Function* same, const Named<CFunction>& in_c,
                            Arguments... arguments) noexcept {
  void* const original = original_of(reinterpret_cast<const void*>(same), in_c.name, may_open);
  if (!original) return otherwise;
  try {
    if (os::kInterposes) return reinterpret_cast<Function*>(original)(arguments...);
    return static_cast<clblast::StatusCode>(reinterpret_cast<CFunction*>(original)(to_c(arguments)...));
  } catch (...) {  // CLBlast's API for C++ lets some through
    return clblast::StatusCode::kUnexpectedError;
  }
}

// Calls CLBlast's function.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode by_clblast(Function* same, const Named<CFunction>& in_c, Arguments... arguments) noexcept {
  return call_or(clblast::StatusCode::kNotImplemented, true, same, in_c, arguments...);
}

// The same if CLBlast is in the process; else there is nothing to do.
template <typename Function, typename CFunction, typename... Arguments>
clblast::StatusCode by_present_clblast(Function* same, const Named<CFunction>& in_c, Arguments... arguments) noexcept {
  return call_or(clblast::StatusCode::kSuccess, false, same, in_c, arguments...);
}

}  // namespace clbake::door
