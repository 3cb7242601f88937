// A trial in the making: the contents of the arguments are read by the program's own queue, just before the launch, and
// written when the driver has them. The program waits for nothing.
#pragma once

#include "record/kernels.hpp"

#include <memory>

namespace clbake::layer::record {

struct LaunchSizes {
  std::size_t offset[3] = {0, 0, 0};
  std::size_t global[3] = {1, 1, 1};
  std::size_t local[3] = {1, 1, 1};
  bool has_local = false;  // else the driver chooses

  std::string local_text() const;  // "[64,1,1]" or "null"
};

class Trial;

// The reads of one trial. Made before the launch and ended after it.
class TrialReads {
 public:
  // Enqueues the reads; they wait for the events of the launch. `attempts`: of the kernel's trials of this kind.
  TrialReads(cl_command_queue queue, cl_kernel kernel, const KernelState& state, SeenKernel::Attempts& attempts,
             const LaunchSizes& sizes, cl_uint waits, const cl_event* wait_list);

  // The events that the launch must wait for: its own and those of the reads. Sets their number.
  const cl_event* wait_list(cl_uint& waits) const {
    waits = static_cast<cl_uint>(wait_list_.size());
    return waits ? wait_list_.data() : nullptr;
  }

  // After the launch. The trial is written when its reads have ended, unless the launch failed.
  void end(bool launched);

 private:
  void read(cl_command_queue queue);

  std::shared_ptr<Trial> trial_;
  std::vector<cl_event> wait_list_;
  std::size_t own_waits_;  // events of wait_list_ that are the program's
};

// At the end of the process: waits a moment for reads that have not ended.
void await_trials();

}  // namespace clbake::layer::record
