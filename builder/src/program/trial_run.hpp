// One trial of a kernel on a device, with its buffers and images.
#pragma once

#include <clbake/builder/jobs.hpp>

#include "program/signature.hpp"
#include "program/trial.hpp"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::program {

// The job's program, as the driver builds it from the bundle's source. `more_options` are added to those of the
// program. Fails with build_failed, or like Library::program.
Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options = {});

// Says in the worker's log what is tried, so that the cause of a crash or a timeout can name it: failure_of().
void announce(const TrialCase& tried);

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

// The kernel with its arguments. One thread. Messages do not name the kernel.
class TrialRun {
 public:
  // `tried` must outlive it. Fails like check_signature and TrialMemory::create, or with opencl.
  static Result<TrialRun> create(const Session& session, const Device& device, cl_program program,
                                 const TrialCase& tried);
  static Result<TrialRun> create(const Session&, const Device&, cl_program, TrialCase&&) = delete;

  // Fills buffers and images anew, then launches and waits; microseconds from the launch to its end. Fails with
  // invalid_argument when the driver refuses the work-group size, or with opencl.
  Result<double> run();

  // The content of each buffer and image after the launch, by argument; empty for other arguments. Fails with
  // wrong_result when the kernel wrote outside of a buffer.
  Result<std::vector<cache::Bytes>> results() const;

 private:
  TrialRun(const Session& session, const Device& device, const TrialCase& tried)
      : session_(session), device_(device.id), tried_(tried) {}
  Status set(std::size_t number);
  Status refused_size(cl_int error) const;

  Session session_;
  cl_device_id device_;
  const TrialCase& tried_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  std::vector<TrialMemory> memory_;    // by argument
  std::vector<cl::Sampler> samplers_;  // of the arguments that are some
};

}  // namespace clbake::builder::program
