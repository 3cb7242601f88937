// Sets the arguments of a step's kernel, and none again that the kernel already has.
#pragma once

#include "launch/plan.hpp"
#include "opencl/cl.hpp"

#include <array>

namespace clbake {

// A call of a handle: its matrices, and what its scalars ask of the kernels. In elements of the plan's stated problem.
struct Call {
  Matrix a, b, c;
  Matrix counts;  // of a group whose rows are counted on the device
  EpilogueBuffers more;
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

// The memory objects of a call, by Value.
using MemoryObjects = std::array<cl_mem, kMemoryObjects>;

// The arguments that a kernel has, without memory objects.
struct HeldArguments {
  std::array<std::uint64_t, 40> words{};  // one after another, each filled up with zeros
  std::uint32_t set = 0;                  // a bit for each argument
};

cl_int set_arguments(cl_kernel kernel, HeldArguments& held, const LaunchPlan& plan, const Step& step, const Call& call,
                     const MemoryObjects& memory);

}  // namespace clbake
