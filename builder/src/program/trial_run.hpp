// One trial of a kernel on a device.
#pragma once

#include <clbake/builder/devices.hpp>

#include "program/trial.hpp"

#include <memory>

namespace clbake::builder {

// Fails with invalid_argument, naming the argument, when those of the trial are not what the kernel takes: their
// number; and where the driver tells, whether each is a buffer, a scalar of which type, or local memory.
Status check_signature(cl_kernel kernel, const Trial& trial);

// Says in the worker's log what is tried, so that the cause of a crash or a timeout can name it: tried_last().
void announce(const TrialCase& tried);

// The kernel's arguments, its buffers between guards. One thread. Messages do not name the kernel.
class TrialRun {
 public:
  // `tried` must outlive it. Fails like check_signature, or with out_of_memory or opencl.
  static Result<TrialRun> create(const Session& session, const Device& device, cl_program program,
                                 const TrialCase& tried);
  TrialRun(TrialRun&&) noexcept;
  ~TrialRun();

  // Fills the buffers anew, then launches and waits; microseconds from the launch to its end.
  Result<double> run();

  // What the buffers hold after the run, by argument; nothing for other arguments. Fails with wrong_result when the
  // kernel wrote outside of one.
  Result<std::vector<std::vector<std::uint8_t>>> results() const;

 private:
  struct State;
  explicit TrialRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The bytes that an argument's buffer begins with: equal for each call. `number`: of the argument.
std::vector<std::uint8_t> filled(const TrialArgument& argument, std::size_t number);

}  // namespace clbake::builder
