// For all benchmarks: the device and the bundles that they measure, and timing in turns.
#pragma once

#include <clbake/builder/devices.hpp>

#include <functional>
#include <string>
#include <vector>

namespace clbake::tool {

// A device with a context and a queue.
struct BenchDevice {
  builder::Device device;
  builder::Session session;
};

// The device that --device SPEC selects for the bundle (`device_for`). Also sets the environment in which drivers
// measure steadily (builder::process::steady_environment), so call it before anything else that starts OpenCL. Throws
// Failure.
BenchDevice open_device(const Bundle& bundle, const std::string& spec);

// Throws Failure.
Library open_library(const BenchDevice& on, const Bundle& bundle, const Options& options = {});

// A bundle that serves what was baked: nothing is compiled from source.
struct Served {
  std::string name;  // of the file, for the table and messages
  Bundle bundle;
  Library library;
};

// Throws Failure.
Served serve(const BenchDevice& on, const Bundle& bundle, const std::string& file);

// A call that is repeated, and the microseconds that each repetition took.
struct TimedCall {
  std::function<void()> call;
  std::vector<double> us = {};
};

// Microseconds that the work takes.
double time_us(const std::function<void()>& work);

// `bench gemm --group`: products of random sizes one by one and as a group. Throws UsageError and Failure.
class Cli;
int bench_group(const Cli& cli);

// Gives each call a turn of about 0.1 s in each of `rounds` rounds, after one round that warms up and is not counted:
// a slow moment of the machine meets all calls.
void time_alternately(std::vector<TimedCall>& calls, std::size_t rounds);

// The values are positive, and there is at least one.
double geometric_mean(const std::vector<double>& values);

}  // namespace clbake::tool
