// Sets the arguments of a kernel.
#pragma once

#include <clbake/clbake.hpp>

#include "opencl/cl.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace clbake {

// The scalar arguments that a kernel has, as bits: those that have not changed are not set again.
using ArgumentBits = std::vector<std::uint64_t>;

// Sets arguments in the order of the kernel contract, one after another. A scalar or null that the kernel already has
// is not set again; memory is, as a new object may have an old one's address.
class Arguments {
 public:
  Arguments(cl_kernel kernel, ArgumentBits& held) : kernel_(kernel), held_(held) {}
  Arguments& memory(cl_mem value) {
    if (!value) return scalar(value);
    held_[index_] = kUnset;
    if (error_ == CL_SUCCESS) error_ = clSetKernelArg(kernel_, index_++, sizeof value, &value);
    return *this;
  }
  Arguments& size(std::size_t value) { return scalar(static_cast<cl_int>(value)); }
  Arguments& distance(cl_ulong elements) { return scalar(elements); }
  Arguments& real(double value, Precision precision) {
    return precision == Precision::double_precision ? scalar(static_cast<cl_double>(value))
                                                    : scalar(static_cast<cl_float>(value));
  }
  Arguments& real2(double x, double y, Precision precision) {
    if (precision == Precision::double_precision) return numbers<cl_double>({x, y});
    return numbers<cl_float>({static_cast<cl_float>(x), static_cast<cl_float>(y)});
  }
  // A vector of OpenCL C. Set again unless it was and is 0, as it is without an epilogue.
  template <typename T>
  Arguments& numbers(std::initializer_list<T> values) {
    const bool zero = std::all_of(values.begin(), values.end(), [](T value) { return value == 0; });
    std::uint64_t& held = held_[index_];
    const cl_uint index = index_++;
    if (error_ != CL_SUCCESS || (zero && held == 0)) return *this;
    error_ = clSetKernelArg(kernel_, index, values.size() * sizeof(T), values.begin());
    held = error_ == CL_SUCCESS && zero ? 0 : kUnset;
    return *this;
  }
  cl_int error() const { return error_; }

  // Marks an argument that is not set. A scalar with these bits is simply set each time.
  static constexpr std::uint64_t kUnset = UINT64_MAX;
  static constexpr std::size_t kMost = 32;

 private:
  template <typename T>
  Arguments& scalar(const T& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    std::uint64_t& held = held_[index_];
    const cl_uint index = index_++;
    if (error_ != CL_SUCCESS || (bits == held && bits != kUnset)) return *this;
    error_ = clSetKernelArg(kernel_, index, sizeof value, &value);
    held = error_ == CL_SUCCESS ? bits : kUnset;
    return *this;
  }

  cl_kernel kernel_;
  ArgumentBits& held_;
  cl_uint index_ = 0;
  cl_int error_ = CL_SUCCESS;
};

}  // namespace clbake
