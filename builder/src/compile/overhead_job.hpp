// A job whose kernel does nothing. Its first load and first launch in a process take what the driver needs for any
// program when there is nothing to compile.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

// Its variant computes nothing and never goes into a bundle.
Job overhead_job(const Target& target);
bool is_overhead_job(const Job& job);

// Compiles and finalizes the kernel like a variant. Fails with opencl, or like finalize().
Result<std::vector<cache::Entry>> compile_overhead_job(const Job& job, const Device& device, const Session& session);

struct LaunchOverhead {
  double load_us = 0;   // create + build + kernel
  double first_us = 0;  // first launch, enqueue to finish
};

// Loads and launches a compiled overhead_job. To be called before anything else is loaded, so that it includes what
// only the first program and the first launch of a process pay. Fails with no_entry or opencl.
Result<LaunchOverhead> measure_launch_overhead(const Job& compiled, const Device& device, const Session& session);

}  // namespace clbake::builder
