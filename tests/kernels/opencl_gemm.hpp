// A GEMM kernel on the first OpenCL device, driven by nothing but the kernel contract.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <clbake/kernels/generator.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace clbake::test {

// The first device of the first platform that has one; the process ends with code 77, which CTest reports as skipped,
// when there is none. Any other failure throws std::runtime_error.
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }
  const kernels::DeviceLimits& limits() const { return limits_; }
  cl_device_id id() const { return id_; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }

 private:
  cl_device_id id_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::string name_;
  kernels::DeviceLimits limits_;
};

// A stored matrix within its array, in elements.
struct Layout {
  std::uint64_t offset = 0;
  std::int32_t ld = 0;
};

struct Problem {
  std::int32_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  Layout a, b, c;
};

class GemmKernel {
 public:
  GemmKernel(const Device& device, const kernels::Kernel& kernel);
  ~GemmKernel();
  GemmKernel(const GemmKernel&) = delete;
  GemmKernel& operator=(const GemmKernel&) = delete;

  // Runs on a grid that has `extra_groups` more work-groups in each dimension than C needs; returns the array of c.
  template <class Real>
  std::vector<Real> run(const Problem& problem, const std::vector<Real>& a, const std::vector<Real>& b,
                        std::vector<Real> c, std::size_t extra_groups) const;

 private:
  const Device& device_;
  kernels::Kernel kernel_;
  cl_program program_ = nullptr;
  cl_kernel handle_ = nullptr;
};

}  // namespace clbake::test
