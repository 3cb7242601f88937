// The floor of a driver: what its first launch in a process takes when there is nothing to compile.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

// A job for the compiling worker: a kernel that does nothing. Its variant is none that computes anything, and never
// goes into a bundle.
Job overhead_job(const Target& target);
bool is_overhead_job(const Job& job);

// Compiles and finalizes the kernel like a variant.
Result<std::vector<cache::Entry>> compile_overhead_job(const Job& job, const Device& device, const Session& session);

struct LaunchOverhead {
  double load_us = 0;   // create + build + kernel
  double first_us = 0;  // first launch, enqueue to finish
};

// Loads and launches a compiled floor job; to be called before anything else is loaded, so that it meets all that only
// the first program and the first launch of a process pay.
Result<LaunchOverhead> measure_launch_overhead(const Job& compiled, const Device& device, const Session& session);

}  // namespace clbake::builder
