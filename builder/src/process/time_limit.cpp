#include "process/time_limit.hpp"

#include <ctime>

namespace clbake::builder::process {
namespace {

constexpr int kLooks = 4;             // in a timeout
constexpr int kLeastPerThousand = 5;  // of the time between looks: less is no work

// The sum of all threads; zero when the system does not tell.
std::chrono::nanoseconds processor_time(pid_t child) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

bool TimeLimit::is_over(pid_t child) { return is_over(Clock::now(), processor_time(child)); }

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
