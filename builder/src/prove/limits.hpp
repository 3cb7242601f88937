// What loading and first launches may take when nothing is compiled in them.
#pragma once

#include <clbake/builder/prove.hpp>

#include "compile/overhead_job.hpp"

#include <algorithm>

namespace clbake::builder {

struct Timing {
  double first_us = 0;
  double steady_us = 0;
  // What a first launch may take if nothing is compiled in it.
  double limit_us(const LaunchOverhead& overhead) const {
    return steady_us + std::min((kFirstLaunchRatio - 1) * steady_us, kFirstLaunchSlackUs) +
           std::clamp(overhead.first_us, kOverheadLeastUs, kOverheadLimitUs);
  }
  double overrun_us(const LaunchOverhead& overhead) const { return first_us - limit_us(overhead); }
};

// A measurement that a compilation would lengthen.
struct Limited {
  const char* what;
  double us;
  double limit_us;
  double overrun_us() const { return us - limit_us; }
};

}  // namespace clbake::builder
