// A bundle, and the device on which its kernels are measured.
#pragma once

#include <clbake/builder/devices.hpp>

#include <string>

namespace clbake::tool {

struct Workbench {
  Bundle bundle;
  builder::Device device;
  builder::Session session;
  Library library;
};

// Sets the environment in which drivers measure steadily, verifies every byte of the bundle, and takes the device that
// SPEC selects (`device_for`). Call it before anything else that starts OpenCL.
Result<Workbench> open_workbench(const std::string& file, const std::string& spec, const Options& options = {});

}  // namespace clbake::tool
