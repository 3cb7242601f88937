// Child processes that compile and time variants, so that a crash, a hang or a wrong result costs one variant only.
#pragma once

#include <clbake/builder/process.hpp>
#include <clbake/os/line_channel.hpp>
#include "device/hanging_widths.hpp"
#include "tune/timing/machine_limit.hpp"
#include "tune/timing/timing_order.hpp"

#include <clbake/builder/tune.hpp>

#include <memory>

namespace clbake::builder::tune {

// Compiles a variant, then is idle or at work on an order. The destructor kills it and removes its files.
class TimingProcess {
 public:
  TimingProcess(const TuneOptions& options, HangingWidths& hanging, MachineLimit& limit, std::size_t number,
                std::size_t unit);
  TimingProcess(const TimingProcess&) = delete;
  TimingProcess& operator=(const TimingProcess&) = delete;
  ~TimingProcess();

  // Starts to compile; the process is new or idle. Fails with io.
  Status compile(const kernels::Params& params);

  // `concurrent`: how many processes work at the same time; each gets that many limits.
  void order(const TimingOrder& order, unsigned concurrent);

  // Never waits. True when it has become idle (after an order, `times` holds what was measured: nothing where the
  // device had no memory), or has failed.
  bool poll(std::vector<double>& times);

  enum class State { compiling, idle, timing, failed };
  State state() const { return state_; }
  bool busy() const { return state_ == State::compiling || state_ == State::timing; }
  const std::string& failure() const { return failure_; }
  bool late() const { return late_; }              // it failed because an order timed out
  unsigned variants() const { return variants_; }  // compiled so far
  std::size_t unit() const { return unit_; }
  bool has_prepared(const Shape& shape) const { return prepared_ && *prepared_ == shape; }
  const os::LineChannel& child() const { return *child_; }  // unless it has failed

 private:
  Status start();
  void begin(State state, unsigned limits);
  bool fail(const std::string& cause);
  bool take_line(const std::string& line, std::vector<double>& times);

  const TuneOptions& options_;
  HangingWidths& hanging_;
  MachineLimit& limit_;
  std::string stem_;  // of its files
  std::size_t unit_;
  process::Command command_;
  std::optional<os::LineChannel> child_;
  std::chrono::steady_clock::time_point began_;  // to compile or to time
  unsigned limits_ = 1;                          // that it may take for that
  State state_ = State::idle;
  std::uint32_t width_ = 0;        // of the variant's vectors
  std::optional<Shape> prepared_;  // of the last order
  std::string failure_;
  bool late_ = false;
  unsigned variants_ = 0;
};

// The processes of a search. Where a context takes seconds (GPUs) a process serves many variants.
class TimingProcesses {
 public:
  explicit TimingProcesses(const TuneOptions& options);

  // Why a variant is not compiled; empty when it is.
  std::string skips(const kernels::Params& params) const { return hanging_.skips(0, params.vector_width); }

  // A process that compiles the variant on the unit-th device: a new one if it has to be, or if none is idle. Throws
  // Failure with io.
  std::unique_ptr<TimingProcess> take(const kernels::Params& params, std::size_t unit, bool has_to_be_new);

  // Keeps it for another variant, if it is fit for one.
  void give_back(std::unique_ptr<TimingProcess> process);

 private:
  const TuneOptions& options_;
  HangingWidths hanging_;
  MachineLimit limit_;
  unsigned variants_per_process_;
  std::size_t started_ = 0;
  std::vector<std::unique_ptr<TimingProcess>> idle_;
};

}  // namespace clbake::builder::tune
