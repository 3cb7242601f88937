// The device that a benchmark measures on, and the bundles that it runs there. All functions throw Failure.
#pragma once

#include <clbake/builder/devices.hpp>

#include <string>

namespace clbake::tool {

// A device with a context and a queue.
struct BenchDevice {
  builder::Device device;
  builder::Session session;
};

struct BenchBundle {
  Bundle bundle;
  BenchDevice on;
};

// Verifies every byte of the bundle and opens the device that --device SPEC selects for it (`device_for`). Also sets
// the environment in which drivers measure steadily (builder::steady_environment), so call it before anything else that
// starts OpenCL.
BenchBundle open_bundle(const std::string& file, const std::string& spec);

Library open_library(const BenchDevice& on, const Bundle& bundle, const Options& options = {});

// A bundle that serves what was baked: nothing is compiled from source.
struct Served {
  std::string name;  // of the file, for the table and messages
  Bundle bundle;
  Library library;
};
Served serve(const BenchDevice& on, const Bundle& bundle, const std::string& file);

}  // namespace clbake::tool
