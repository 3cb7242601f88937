// Setup of a library, which never changes, and its counters: every class of this folder shares them.
#pragma once

#include "opencl/cl.hpp"
#include "select/choose.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace clbake {

struct Setup {
  cl::Context context;
  cl::Device device;
  Target target;
  Options options;
  std::vector<DeviceBundle> bundles;
  bool is_cpu = false;

  void log(LogLevel level, const std::string& message) const {
    if (options.log) options.log(level, message.c_str(), options.log_data);
  }
};

// Counters behind a lock, as only calls that prepare change them. Any number of threads at once.
class Tally {
 public:
  template <typename Change>
  void count(const Change& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    change(counters_);
  }

  Counters read() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_;
  }

 private:
  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace clbake
