// Timing variants, each in a process of its own: a crash, a hang or a wrong result costs that variant only. Compiling
// goes on in parallel; only one process at a time is timed on a device.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// What a process has to do for one shape.
struct TimingOrder {
  Shape shape;
  std::uint32_t runs = 3;  // at least; 0: only get ready for this shape, which is answered by "set"
  double turn_us = 2000;   // and at least for so long
  double limit_us = 0;     // a run that takes longer is the last; 0 = none
  bool check = true;       // compare the first run's result with the reference; else this shape was checked before
};

// "single nn 64x64x64|3|2000|0|1" and the reverse; nothing for other text.
std::string to_line(const TimingOrder& order);
std::optional<TimingOrder> parse_order(const std::string& line);

// Worker, in a process of its own: compiles the only variant of the bundle `job` (no entries in it) on the unit-th of
// the devices that are its target, checks its results on an edge shape, says "ready", and then answers each order that
// it hears with "us T1 T2 ..." (microseconds of calls, enqueue to finish), "unable CAUSE" (the device has no room for
// this shape) or ends. "next JOB" is another variant: it begins anew in the same context. Ends when nobody speaks to it
// any more. Fails with wrong_result, or with the reason why the variant does not run.
Status time_job(const std::string& job, std::size_t unit);
inline constexpr const char* kNextJob = "next ";

// One variant and the shapes to time it on, in this order.
struct TimingRequest {
  kernels::Params params;
  std::vector<Shape> shapes;
  std::vector<double> best_us = {};  // of each shape, known when the visit was planned; 0 = nothing is
};

// What came of a visit.
struct TimingResult {
  std::string failure;                  // why the variant is out; empty when it is not
  std::vector<std::vector<double>> us;  // of each shape that was reached; empty where the device was unable, or ...
  // ... where the order took too long, though nobody had managed this shape: places in `us`. Others may yet.
  std::vector<std::size_t> late;
};

// The processes of a tuning.
class TimingPool {
 public:
  struct Options {
    Target target;
    bool shares_cores = true;  // the device computes on the cores that compile: nothing compiles while one is timed
    // Variants that a process may take one after the other: where a context takes seconds. One that crashes, hangs or
    // is wrong is the last of its process.
    unsigned variants_per_process = 1;
    std::size_t units = 1;             // identical devices that are timed side by side
    unsigned parallel = 1;             // compilations at a time
    unsigned waiting = 4;              // compiled variants that may wait for their turn
    std::string worker;                // executable whose `worker time JOB UNIT` is time_job
    std::string directory;             // for jobs, logs and the driver's cache
    std::chrono::seconds timeout{60};  // for a compilation, or for one order
  };
  using Clock = std::chrono::steady_clock;

  TimingPool(Options options, const std::atomic<bool>& cancel);
  ~TimingPool();
  TimingPool(const TimingPool&) = delete;
  TimingPool& operator=(const TimingPool&) = delete;

  enum class Next { visit, wait, end };

  struct Callbacks {
    // The next visit; `wait` asks again after another one is done; `end`: there is none any more.
    std::function<Next(TimingRequest&)> next;
    // The order for the visit's shape number `shape`; nothing: this visit ends here.
    std::function<std::optional<TimingOrder>(const TimingRequest&, std::size_t shape, const TimingResult&)> order;
    // TimingQueue end in any order; `number` counts the calls of `next` that returned a visit.
    std::function<void(std::size_t number, const TimingRequest&, TimingResult&&)> done;
  };

  // Until there is no visit left, or until `deadline`: then what is under way is dropped. Fails with cancelled or io.
  Status visit(const Callbacks& callbacks, Clock::time_point deadline);

  struct RaceCallbacks {
    std::function<void(std::size_t variant, std::size_t order, const std::vector<double>& us)> turn;
    std::function<void(std::size_t variant, const std::string& cause)> failed;  // it is out
    // The order took too long: whether the shape is to blame, so that the variant stays; null: never.
    std::function<bool(std::size_t variant, std::size_t order, const std::string& cause)> late;
    // Whether the variant takes part in this round of the order; null: always.
    std::function<bool(std::size_t variant, std::size_t order, unsigned round)> wanted;
  };

  // All variants at once on one device: each order in `rounds` turns through all of them. Until all is done, or until
  // `deadline`: then the turn under way is dropped. Fails with cancelled or io.
  Status race(const std::vector<kernels::Params>& variants, const std::vector<TimingOrder>& orders, unsigned rounds,
              const RaceCallbacks& callbacks, Clock::time_point deadline);

 private:
  class Process;
  class TimingQueue;
  class Race;

  // One that has ended with another variant, or a new one.
  Result<std::unique_ptr<Process>> process_for(const kernels::Params& params, std::size_t unit);
  void take_back(std::unique_ptr<Process> process);

  Options options_;
  const std::atomic<bool>& cancel_;
  std::vector<std::unique_ptr<Process>> spare_;  // idle
  std::map<std::string, unsigned> late_;         // how many visits were late on a shape that nobody has managed
  std::set<std::string> managed_;                // shapes
  std::size_t processes_ = 0;                    // started so far
};

}  // namespace clbake::builder
