// Sets the arguments of a kernel.
#pragma once

#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

#include <array>
#include <cstring>

namespace clbake {

// The arguments that a kernel has, without memory: those that have not changed are not set again.
struct HeldArguments {
  std::array<std::uint64_t, 32> words{};  // one after another, each filled up with zeros
  std::uint32_t set = 0;                  // a bit for each argument
};

// Sets arguments in the order of the kernel contract, one after another. A value or null that the kernel already has
// is not set again; memory is, as a new object may have an old one's address.
class Arguments {
 public:
  Arguments(cl_kernel kernel, HeldArguments& held) : kernel_(kernel), held_(held) {}
  Arguments& memory(cl_mem value) {
    if (value) held_.set &= ~(1U << index_);
    return bytes(&value, sizeof value);
  }
  Arguments& size(std::size_t value) { return number(static_cast<cl_int>(value)); }
  Arguments& distance(cl_ulong elements) { return number(elements); }
  Arguments& real(double value, Precision precision) { return reals<1>({value}, precision); }
  // A vector of OpenCL C.
  template <std::size_t count>
  Arguments& reals(const std::array<double, count>& values, Precision precision) {
    if (precision == Precision::double_precision) return bytes(values.data(), sizeof values);
    std::array<cl_float, count> singles;
    for (std::size_t i = 0; i < count; ++i) singles[i] = static_cast<cl_float>(values[i]);
    return bytes(singles.data(), sizeof singles);
  }
  // A scalar or a struct of OpenCL C.
  template <typename T>
  Arguments& number(const T& value) {
    return bytes(&value, sizeof value);
  }
  cl_int error() const { return error_; }

 private:
  Arguments& bytes(const void* value, std::size_t size);

  cl_kernel kernel_;
  HeldArguments& held_;
  cl_uint index_ = 0;
  std::size_t word_ = 0;
  cl_int error_ = CL_SUCCESS;
};

}  // namespace clbake
