// The buffers and images of a trial.
#pragma once

#include <clbake/builder/devices.hpp>

#include "program/trial.hpp"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::program {

// "clCreateBuffer: error -5", as out_of_memory or opencl.
Status opencl_failure(const std::string& call, cl_int error);

// The memory of one argument, a buffer between guards. One thread.
class TrialMemory {
 public:
  // For arguments that are no memory.
  TrialMemory() = default;

  // `number`: of the argument. Fails with out_of_memory or opencl.
  static Result<TrialMemory> create(const Session& session, const Device& device, const TrialArgument& argument,
                                    std::size_t number);

  // The object that the kernel gets; null when the argument is no memory.
  cl_mem given() const { return given_(); }

  // The first content, anew.
  Status fill(const cl::CommandQueue& queue) const;

  // The content now, without guards. Fails with wrong_result when a guard was overwritten.
  Result<cache::Bytes> read(const cl::CommandQueue& queue) const;

 private:
  const Image* image_ = nullptr;  // null: a buffer
  std::size_t before_ = 0;        // bytes of the guards
  std::size_t after_ = 0;
  cl::Memory whole_;  // the buffer with its guards, or the image
  cl::Memory given_;
  cache::Bytes content_;  // of the whole
};

}  // namespace clbake::builder::program
