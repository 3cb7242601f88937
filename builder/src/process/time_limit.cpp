#include "process/time_limit.hpp"

namespace clbake::builder::process {

constexpr int kLooks = 4;             // in a timeout
constexpr int kLeastPerThousand = 5;  // of the time between looks: less is no work

bool TimeLimit::is_over(const os::Child& child) {
  const Clock::time_point now = Clock::now();
  const bool is_due = now - looked_ >= timeout_ / kLooks || now - start_ > timeout_;
  return is_due && is_over(now, child.processor_time() - before_);
}

bool TimeLimit::is_over(Clock::time_point now, std::chrono::nanoseconds used) {
  if (now - looked_ >= timeout_ / kLooks) {
    works_ = used - used_ >= (now - looked_) * kLeastPerThousand / 1000;
    used_ = used;
    looked_ = now;
  }
  if (now - start_ <= timeout_) return false;
  return !works_ || used_ >= timeout_ || now - start_ > timeout_ * kMostTimes;
}

}  // namespace clbake::builder::process
