// The memory objects that a plan needs beside the caller's matrices.
#pragma once

#include "launch/plan.hpp"
#include "opencl/cl.hpp"

namespace clbake {

// Fails with opencl.
Result<DeviceLimits> limits_of(const cl::Device& device);

class Workspace {
 public:
  // The packed operands that are images. Fails with opencl or out_of_memory, as all functions do.
  static Result<Workspace> create(const cl::Context& context, const LaunchPlan& plan);

  // The buffers: new ones, or sub-buffers of `memory`, from `offset` bytes on. A failure of `place` leaves the
  // workspace as it was.
  Status allocate(const cl::Context& context, const LaunchPlan& plan);
  Status place(cl_mem memory, std::size_t offset, const LaunchPlan& plan);

  // Null where the plan has no such part, or it has not been created yet.
  cl_mem get(Value part) const { return parts_[static_cast<std::size_t>(part)](); }
  bool complete(const LaunchPlan& plan) const;

 private:
  std::array<cl::Memory, kWorkspaceParts> parts_;
};

}  // namespace clbake
