// One process of a TimingPool.
#pragma once

#include <clbake/builder/timing.hpp>
#include "process/line_channel.hpp"

namespace clbake::builder {

constexpr int kTimingPollMs = 20;

// A variant's process: compiling, then idle or at work on an order. Ends, and takes its files along, with the object.
class TimingPool::Process {
 public:
  // The number-th of the pool, on the unit-th device. Fails with io.
  static Result<std::unique_ptr<Process>> start(const TimingPool::Options& options, const kernels::Params& params,
                                                std::size_t number, std::size_t unit);

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  enum class State { compiling, idle, timing, out };
  State state() const { return state_; }
  bool busy() const { return state_ == State::compiling || state_ == State::timing; }
  std::size_t unit() const { return unit_; }
  const std::string& failure() const { return failure_; }
  bool late() const { return late_; }                   // it is out because an order took too long
  unsigned variants() const { return variants_; }       // so far
  const LineChannel& child() const { return *child_; }  // unless it is out

  // Another variant, once it is idle. Fails with io.
  Status next(const Target& target, const kernels::Params& params);

  // `beside`: how many processes are at work at the same time.
  void order(const TimingOrder& order, std::size_t beside = 1);

  // Looks once, without waiting. True when there is news: it became idle (`times` tells what was measured; empty: the
  // device was unable), or it is out (failure() tells why).
  bool look(std::vector<double>& times);

 private:
  Status write(const Target& target, const kernels::Params& params) const;
  bool fail(const std::string& cause);
  bool understand(const std::string& line, std::vector<double>& times);

  std::vector<std::string> files_;
  Command command_;
  std::chrono::seconds timeout_{0};
  std::size_t unit_ = 0;
  unsigned variants_ = 1;
  std::optional<LineChannel> child_;
  Clock::time_point deadline_;
  State state_ = State::compiling;
  std::string failure_;
  bool late_ = false;
};

// Sleeps until one of them has news: guests of a pool, or processes.
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
