#include "process/time_limit.hpp"

namespace clbake::builder::process {
namespace {

constexpr int kLooks = 4;             // in a timeout
constexpr int kLeastPerThousand = 5;  // of the time between looks: less is no work

}  // namespace

bool TimeLimit::is_over(const os::Child& child) { return is_over(Clock::now(), child.processor_time()); }

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
