// One trial of a kernel on a device.
#pragma once

#include <clbake/builder/jobs.hpp>

#include "program/signature.hpp"
#include "program/trial_memory.hpp"

namespace clbake::builder::program {

// The job's program, as the driver builds it from the bundle's source. `more_options` are added to those of the
// program. Fails with build_failed, or like Library::program.
Result<LoadedProgram> build_from_source(const Job& job, const Device& device, const Session& session,
                                        const std::string& more_options = {});

// Says in the worker's log what is tried, so that the cause of a crash or a timeout can name it: failure_of().
void announce(const TrialCase& tried);

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
