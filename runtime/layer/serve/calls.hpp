// OpenCL's functions as the serving layer has them, named without "cl". For programs and kernels that the registry does
// not know each is the function below the layer. None throws.
#pragma once

#include <CL/cl_layer.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace clbake::layer::serve {

// clang-format off
#define CLBAKE_SERVED_CALLS(X) \
  X(CreateProgramWithSource) X(CreateProgramWithIL) X(CreateProgramWithBinary) X(CreateProgramWithBuiltInKernels) \
  X(RetainProgram) X(ReleaseProgram) X(BuildProgram) X(CompileProgram) X(LinkProgram) \
  X(GetProgramInfo) X(GetProgramBuildInfo) X(SetProgramSpecializationConstant) \
  X(CreateKernel) X(CreateKernelsInProgram) X(CloneKernel) X(RetainKernel) X(ReleaseKernel) \
  X(GetKernelInfo) X(GetKernelArgInfo) \
  X(GetExtensionFunctionAddress) X(GetExtensionFunctionAddressForPlatform)
// clang-format on

// With learning only.
#define CLBAKE_LEARNED_CALLS(X) X(EnqueueNDRangeKernel) X(EnqueueTask)

namespace calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name is declared
#define CLBAKE_DECLARE(name) std::remove_pointer_t<cl_api_cl##name> name;
CLBAKE_SERVED_CALLS(CLBAKE_DECLARE)
CLBAKE_LEARNED_CALLS(CLBAKE_DECLARE)
#undef CLBAKE_DECLARE
}  // namespace calls

// The result of `work`; out of host memory if it throws.
template <typename Work>
cl_int no_throw(const Work& work) noexcept {
  try {
    return work();
  } catch (...) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}

// The same for a function that makes an object: `work` gets a place for the error, which is never null.
template <typename Work>
auto make(cl_int* error_ret, const Work& work) noexcept -> decltype(work(*error_ret)) {
  cl_int ignored = CL_SUCCESS;
  cl_int& error = error_ret ? *error_ret : ignored;
  try {
    return work(error);
  } catch (...) {
    error = CL_OUT_OF_HOST_MEMORY;
    return nullptr;
  }
}

// The memory for an answer of clGet*Info.
struct Answer {
  std::size_t size;
  void* value;
  std::size_t* size_ret;

  cl_int bytes(const void* data, std::size_t count) const {
    if (value && size < count) return CL_INVALID_VALUE;
    if (value) std::memcpy(value, data, count);
    if (size_ret) *size_ret = count;
    return CL_SUCCESS;
  }
  template <typename T>
  cl_int number(const T& number) const {
    return bytes(&number, sizeof number);
  }
};

}  // namespace clbake::layer::serve
