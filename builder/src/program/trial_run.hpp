// One trial of a kernel on a device.
#pragma once

#include <clbake/builder/devices.hpp>

#include "program/trial.hpp"

#include <functional>
#include <memory>

namespace clbake::builder {

// Fails with invalid_argument, naming the argument, when those of the trial are not what the kernel takes: their
// number; and where the driver tells, whether each is a buffer, a scalar of which type, or local memory.
Status check_signature(cl_kernel kernel, const Trial& trial);

// Says in the worker's log what is tried, so that the cause of a crash or a timeout can name it: tried_last().
void announce(const TrialCase& tried);

// The kernel's arguments, its buffers between guards. On the host there is a piece of a buffer at a time, so that a
// trial takes little more memory than its buffers on the device. One thread. Messages do not name the kernel.
class TrialRun {
 public:
  // `tried` must outlive it. Fails like check_signature, or with out_of_memory or opencl.
  static Result<TrialRun> create(const Session& session, const Device& device, cl_program program,
                                 const TrialCase& tried);
  TrialRun(TrialRun&&) noexcept;
  ~TrialRun();

  // Fills the buffers anew, then launches and waits; microseconds from the launch to its end.
  Result<double> run();

  // Fails with wrong_result when the kernel wrote outside of a buffer.
  Status check_guards() const;

  // Visits the numbers that an argument's buffer holds after the run, piece by piece: `first` is the index of the
  // piece's first number, `bytes` holds `count` of them. Ends with the first failure of `visit`.
  using Visit = std::function<Status(std::uint64_t first, std::uint64_t count, const std::uint8_t* bytes)>;
  Status read(std::size_t number, const Visit& visit) const;

 private:
  struct State;
  explicit TrialRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Writes what the numbers from `first` on of an argument's buffer begin with: equal for each call. `number`: of the
// argument.
void fill(const TrialArgument& argument, std::size_t number, std::uint64_t first, std::uint64_t count,
          std::uint8_t* bytes);

}  // namespace clbake::builder
