// Timing in child processes.
//
// A variant is compiled and timed in a process of its own, so that a crash, a hang or a wrong result costs that variant
// only. Compiling goes on in as many processes as there are cores while one process at a time is timed on each device.
// Where the device computes on those same cores (CPUs), the two take turns: a batch is compiled, then timed with
// nothing beside it. Where a context takes seconds (GPUs), a process takes many variants one after the other; whatever
// fails in a process that was used before is tried again in a new one before the variant is blamed.
#pragma once

#include "device/hanging_widths.hpp"
#include "tune/timing/timing_order.hpp"

#include <clbake/builder/tune.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// One variant and the shapes to time it on, in this order.
struct TimingRequest {
  kernels::Params params;
  std::vector<Shape> shapes;
  std::vector<double> best_us = {};  // best median of each shape when the request was made; 0 = none yet
  std::size_t number = 0;            // for the caller
};

struct TimingResult {
  std::string failure;  // why the variant is excluded; empty when it is not
  // Microseconds of the calls on each shape that was reached; empty where the device had no memory, or ...
  std::vector<std::vector<double>> us;
  std::vector<std::size_t> late;  // ... the order timed out before any variant finished that shape: indices into `us`
};

// One thread.
class TimingPool {
 public:
  using Clock = std::chrono::steady_clock;

  // Both must outlive it.
  TimingPool(const TuneOptions& options, const std::atomic<bool>& cancel);
  ~TimingPool();
  TimingPool(const TimingPool&) = delete;
  TimingPool& operator=(const TimingPool&) = delete;

  enum class Next { request, wait, end };

  struct Callbacks {
    // Fills in the next request. `wait`: ask again after another one is done; `end`: there are no more.
    std::function<Next(TimingRequest&)> next;
    // The order for the request's shape number `shape`; nothing ends this request here.
    std::function<std::optional<TimingOrder>(const TimingRequest&, std::size_t shape, const TimingResult&)> order;
    // Requests are done in any order.
    std::function<void(const TimingRequest&, TimingResult&&)> done;
  };

  // Until there are no more requests, or until `deadline`, when those under way are dropped. Fails with cancelled or
  // io.
  Status run(const Callbacks& callbacks, Clock::time_point deadline);

  struct TurnCallbacks {
    std::function<void(std::size_t variant, std::size_t order, const std::vector<double>& us)> turn;
    std::function<void(std::size_t variant, const std::string& cause)> failed;
    // The order timed out. True: the shape is to blame, and the variant stays.
    std::function<bool(std::size_t variant, std::size_t order, const std::string& cause)> late;
    // Whether the variant takes part in this round of the order.
    std::function<bool(std::size_t variant, std::size_t order, unsigned round)> wanted;
    // If there is one: called when all are compiled; the deadline that it returns replaces the first one.
    std::function<Clock::time_point()> compiled = {};
  };

  // All variants at once on the first device: each order in `rounds` turns through all of them. Until all is done, or
  // until `deadline`, when the turn under way is dropped. Fails with cancelled or io.
  Status take_turns(const std::vector<kernels::Params>& variants, const std::vector<TimingOrder>& orders,
                    unsigned rounds, const TurnCallbacks& callbacks, Clock::time_point deadline);

 private:
  class Process;
  class Queue;
  class Turns;

  // A spare process with this variant as its next one, or a new process.
  Result<std::unique_ptr<Process>> process_for(const kernels::Params& params, std::size_t unit);
  Result<std::unique_ptr<Process>> new_process(const kernels::Params& params, std::size_t unit);
  void take_back(std::unique_ptr<Process> process);
  std::unique_ptr<Process> take_spare(std::size_t unit);

  const TuneOptions& options_;
  const std::atomic<bool>& cancel_;
  bool shares_cores_;                            // the device computes on the cores that compile
  std::size_t units_;                            // identical devices, timed side by side
  unsigned parallel_;                            // compilations at a time
  unsigned waiting_;                             // compiled variants that may wait for the device
  unsigned variants_per_process_;                // a process ends after so many, or after one that failed
  std::vector<std::unique_ptr<Process>> spare_;  // idle, or at work on what nobody waits for any more
  HangingWidths hanging_;
  std::map<std::string, unsigned> timeouts_;  // by shape, before any variant finished it
  std::set<std::string> finished_;            // shapes that some variant finished
  std::size_t processes_ = 0;                 // started so far
};

}  // namespace clbake::builder
