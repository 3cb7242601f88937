// Functions with OpenCL's names that call a table's.
#pragma once

#include <CL/cl_icd.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace clbake::opencl {

template <typename Function>
struct Signature;
template <typename R, typename... A>
struct Signature<R(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <typename Function>
using ResultOf = typename Signature<Function>::Result;
template <typename Function, std::size_t I>
using Argument = std::tuple_element_t<I, typename Signature<Function>::Arguments>;

template <cl_int missing, typename T>
void set_error(T /*argument*/) {}
template <cl_int missing>
void set_error(cl_int* error) {
  if (error) *error = missing;
}

// Fails with the error `missing` where the function is null, as in an older OpenCL.
template <cl_int missing, typename R, typename... P, typename... A>
R call(R(CL_API_CALL* function)(P...), A... arguments) {
  if (function) return function(arguments...);
  (set_error<missing>(arguments), ...);
  if constexpr (std::is_same_v<R, cl_int>) return missing;
  if constexpr (std::is_pointer_v<R>) return nullptr;
}

}  // namespace clbake::opencl

// Parameters of a function, and their names, by their number.
// clang-format off
#define CLBAKE_PARAMETERS_0(f)
#define CLBAKE_PARAMETERS_1(f) clbake::opencl::Argument<decltype(f), 0> a0
#define CLBAKE_PARAMETERS_2(f) CLBAKE_PARAMETERS_1(f), clbake::opencl::Argument<decltype(f), 1> a1
#define CLBAKE_PARAMETERS_3(f) CLBAKE_PARAMETERS_2(f), clbake::opencl::Argument<decltype(f), 2> a2
#define CLBAKE_PARAMETERS_4(f) CLBAKE_PARAMETERS_3(f), clbake::opencl::Argument<decltype(f), 3> a3
#define CLBAKE_PARAMETERS_5(f) CLBAKE_PARAMETERS_4(f), clbake::opencl::Argument<decltype(f), 4> a4
#define CLBAKE_PARAMETERS_6(f) CLBAKE_PARAMETERS_5(f), clbake::opencl::Argument<decltype(f), 5> a5
#define CLBAKE_PARAMETERS_7(f) CLBAKE_PARAMETERS_6(f), clbake::opencl::Argument<decltype(f), 6> a6
#define CLBAKE_PARAMETERS_8(f) CLBAKE_PARAMETERS_7(f), clbake::opencl::Argument<decltype(f), 7> a7
#define CLBAKE_PARAMETERS_9(f) CLBAKE_PARAMETERS_8(f), clbake::opencl::Argument<decltype(f), 8> a8
#define CLBAKE_PARAMETERS_10(f) CLBAKE_PARAMETERS_9(f), clbake::opencl::Argument<decltype(f), 9> a9
#define CLBAKE_PARAMETERS_11(f) CLBAKE_PARAMETERS_10(f), clbake::opencl::Argument<decltype(f), 10> a10
#define CLBAKE_PARAMETERS_12(f) CLBAKE_PARAMETERS_11(f), clbake::opencl::Argument<decltype(f), 11> a11
#define CLBAKE_PARAMETERS_13(f) CLBAKE_PARAMETERS_12(f), clbake::opencl::Argument<decltype(f), 12> a12
#define CLBAKE_PARAMETERS_14(f) CLBAKE_PARAMETERS_13(f), clbake::opencl::Argument<decltype(f), 13> a13
#define CLBAKE_ARGUMENTS_0
#define CLBAKE_ARGUMENTS_1 , a0
#define CLBAKE_ARGUMENTS_2 CLBAKE_ARGUMENTS_1, a1
#define CLBAKE_ARGUMENTS_3 CLBAKE_ARGUMENTS_2, a2
#define CLBAKE_ARGUMENTS_4 CLBAKE_ARGUMENTS_3, a3
#define CLBAKE_ARGUMENTS_5 CLBAKE_ARGUMENTS_4, a4
#define CLBAKE_ARGUMENTS_6 CLBAKE_ARGUMENTS_5, a5
#define CLBAKE_ARGUMENTS_7 CLBAKE_ARGUMENTS_6, a6
#define CLBAKE_ARGUMENTS_8 CLBAKE_ARGUMENTS_7, a7
#define CLBAKE_ARGUMENTS_9 CLBAKE_ARGUMENTS_8, a8
#define CLBAKE_ARGUMENTS_10 CLBAKE_ARGUMENTS_9, a9
#define CLBAKE_ARGUMENTS_11 CLBAKE_ARGUMENTS_10, a10
#define CLBAKE_ARGUMENTS_12 CLBAKE_ARGUMENTS_11, a11
#define CLBAKE_ARGUMENTS_13 CLBAKE_ARGUMENTS_12, a12
#define CLBAKE_ARGUMENTS_14 CLBAKE_ARGUMENTS_13, a13
// clang-format on

// Defines the function `name` of n parameters; the expression `table` is a cl_icd_dispatch, `missing` the error where
// that has no such function.
#define CLBAKE_FORWARD(n, name, table, missing)                                \
  clbake::opencl::ResultOf<decltype(name)> name(CLBAKE_PARAMETERS_##n(name)) { \
    return clbake::opencl::call<missing>((table).name CLBAKE_ARGUMENTS_##n);   \
  }
