// One trial of a kernel on a device.
#pragma once

#include <clbake/builder/jobs.hpp>

#include "program/trial.hpp"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::program {

// The job's program, as the driver builds it from the bundle's source. `more_options` are added to those of the
// program. Fails with build_failed, or like Library::program.
Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options = {});

// Fails with invalid_argument, naming the argument, when those of the trial are not what the kernel takes: their
// number; and where the driver tells, whether each is a buffer, a scalar or local memory, and a scalar's type.
Status check_signature(cl_kernel kernel, const Trial& trial);

// Says in the worker's log what is tried, so that the cause of a crash or a timeout can name it: failure_of().
void announce(const TrialCase& tried);

// The kernel's arguments, its buffers between guards. One thread. Messages do not name the kernel.
class TrialRun {
 public:
  // `tried` must outlive it. Fails like check_signature, or with out_of_memory or opencl.
  static Result<TrialRun> create(const Session& session, const Device& device, cl_program program,
                                 const TrialCase& tried);
  static Result<TrialRun> create(const Session&, const Device&, cl_program, TrialCase&&) = delete;

  // Fills the buffers anew, then launches and waits; microseconds from the launch to its end.
  Result<double> run();

  // Each buffer's content after the launch, by argument; empty for other arguments. Fails with wrong_result when it
  // wrote outside of a buffer.
  Result<std::vector<cache::Bytes>> results() const;

 private:
  TrialRun(const Session& session, const TrialCase& tried) : session_(session), tried_(tried) {}
  Status add_buffer(std::size_t number);
  Status set(std::size_t number);

  Session session_;
  const TrialCase& tried_;
  std::size_t guard_ = 0;  // bytes on each side of a buffer
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  // By argument: the buffer with its guards, what the kernel gets of it, and the first content of the whole.
  std::vector<cl::Buffer> whole_, inner_;
  std::vector<cache::Bytes> content_;
};

// The first content of an argument's buffer: equal for each call. `number`: of the argument.
cache::Bytes content_of(const TrialArgument& argument, std::size_t number);

}  // namespace clbake::builder::program
