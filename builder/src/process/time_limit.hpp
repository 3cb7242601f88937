// How long a child process may take.
#pragma once

#include <clbake/os/child.hpp>

#include <chrono>

namespace clbake::builder::process {

// A driver hangs in one of two ways: it waits, or it computes for ever. So a child has `timeout` on the clock; then as
// much more, up to kMostTimes as much, as it needs for `timeout` of processor time, while it gets some.
class TimeLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // `before`: the processor time that the child has used for something else.
  explicit TimeLimit(std::chrono::seconds timeout, Clock::time_point start = Clock::now(),
                     std::chrono::nanoseconds before = {})
      : timeout_(timeout), start_(start), before_(before) {}

  // True when the child has had its time. Call it often, at least every quarter of the timeout.
  bool is_over(const os::Child& child);
  // `used`: the child's processor time until now.
  bool is_over(Clock::time_point now, std::chrono::nanoseconds used);

 private:
  static constexpr int kMostTimes = 8;

  std::chrono::nanoseconds timeout_;
  Clock::time_point start_;
  std::chrono::nanoseconds before_;
  Clock::time_point looked_ = start_;
  std::chrono::nanoseconds used_{0};  // of processor time, then
  bool works_ = false;                // had used some since the time before
};

}  // namespace clbake::builder::process
