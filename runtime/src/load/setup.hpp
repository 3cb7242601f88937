// Setup of a library, made with it. It never changes; every class of this folder reads it.
#pragma once

#include "opencl/cl.hpp"
#include "select/choose.hpp"

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

}  // namespace clbake
