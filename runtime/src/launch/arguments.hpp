// Sets the arguments of a step's kernel, and none again that the kernel already has.
#pragma once

#include "launch/plan.hpp"
#include "opencl/cl.hpp"

#include <array>

namespace clbake {

constexpr std::uint32_t bit_of(Value value) { return 1U << static_cast<std::uint32_t>(value); }

// A call of a handle: its matrices, and what its scalars ask of the kernels. In elements of the plan's stated problem.
struct Call {
  Matrix a, b, c;
  Matrix counts;  // of a group whose rows are counted on the device
  EpilogueBuffers more;
  // bit_of each Value that is a pointer. Offsets have no flags here.
  std::uint32_t svm = 0;
  std::uint32_t usm = 0;
  bool reads_operands = false;  // neither alpha nor k is 0
  bool reads_d = false;
  // Scalars of the real product. Complex alpha is folded into B's copy; complex beta scales C first.
  double alpha = 0;
  double beta = 0;
  std::complex<double> complex_alpha = 1;
  std::complex<double> complex_beta = 1;
};

// Sets alpha, beta and what is read. BLAS: alpha = 0, as the kernel will see it, does not read A and B, so that NaN in
// them does not spread.
void set_scalars(const LaunchPlan& plan, const Scalars& scalars, Call& call);

// Sets a kernel's argument by a pointer.
using SetPointer = cl_int(CL_API_CALL*)(cl_kernel, cl_uint index, const void* pointer);

// The memory of a call, by Value: buffers and images, or pointers where there is a bit, as in Call.
struct MemoryArguments {
  std::array<cl_mem, kMemoryObjects> at{};
  std::uint32_t svm = 0;
  std::uint32_t usm = 0;
  SetPointer set_svm = nullptr;
  SetPointer set_usm = nullptr;
};

// The arguments that a kernel has.
struct HeldArguments {
  std::array<std::uint64_t, 40> words{};  // one after another, each filled up with zeros
  std::uint32_t set = 0;                  // a bit for each argument, but memory: that is set anew by each call
};

// Receives arguments in the place of a kernel.
struct ArgumentList {
  virtual ~ArgumentList() = default;
  virtual void add(cl_uint index, std::size_t size, const void* value) = 0;  // value: in HeldArguments
  virtual void add_pointer(cl_uint index, const void* pointer) = 0;
};

// Sets those that differ from the held ones, or adds them to `list`.
cl_int set_arguments(cl_kernel kernel, HeldArguments& held, const LaunchPlan& plan, const Step& step, const Call& call,
                     const MemoryArguments& memory, ArgumentList* list = nullptr);

}  // namespace clbake
