// One child process of a TimingPool.
#pragma once

#include "process/line_channel.hpp"
#include "tune/timing/timing_pool.hpp"

namespace clbake::builder {

constexpr int kTimingPollMs = 20;

// Compiles a variant, then is idle or at work on an order. The destructor kills it and removes its files.
class TimingPool::Process {
 public:
  // `number` names its files; `unit` is its device. Fails with io.
  static Result<std::unique_ptr<Process>> start(const TuneOptions& options, const kernels::Params& params,
                                                std::size_t number, std::size_t unit);

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  enum class State { compiling, idle, timing, failed };
  State state() const { return state_; }
  bool busy() const { return state_ == State::compiling || state_ == State::timing; }
  std::size_t unit() const { return unit_; }
  const std::string& failure() const { return failure_; }
  bool hung() const { return hung_; }                   // it failed because compiling timed out
  bool late() const { return late_; }                   // it failed because an order timed out
  unsigned variants() const { return variants_; }       // so far
  const LineChannel& child() const { return *child_; }  // unless it has failed

  // Another variant; the process must be idle. Fails with io.
  Status next(const Target& target, const kernels::Params& params);

  // `concurrent`: how many processes work on such an order at the same time; each gets that many timeouts.
  void order(const TimingOrder& order, std::size_t concurrent = 1);

  // Never waits. True when the state has changed: to idle (after an order, `times` holds what was measured, which is
  // nothing where the device had no memory), or to failed.
  bool poll(std::vector<double>& times);

 private:
  Status write(const Target& target, const kernels::Params& params) const;
  bool fail(const std::string& cause);
  bool take_line(const std::string& line, std::vector<double>& times);

  std::vector<std::string> files_;
  Command command_;
  std::chrono::seconds timeout_{0};
  std::size_t unit_ = 0;
  unsigned variants_ = 1;
  std::optional<LineChannel> child_;
  Clock::time_point deadline_;
  State state_ = State::compiling;
  std::string failure_;
  bool hung_ = false;
  bool late_ = false;
};

// Sleeps until one of them has answered; they are what has busy() and child().
template <typename Processes>
void wait_for(const Processes& processes) {
  std::vector<const LineChannel*> children;
  for (const auto& process : processes) {
    if (process->busy()) children.push_back(&process->child());
  }
  if (!children.empty()) LineChannel::wait(children, kTimingPollMs);
}

inline Status check_cancel(const std::atomic<bool>& cancel) {
  return cancel ? Status(Code::cancelled, "interrupted") : Status();
}

}  // namespace clbake::builder
