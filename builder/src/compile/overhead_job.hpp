// A job whose kernel does nothing: what its first launch takes is the driver's part of any first launch.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder {

inline constexpr const char* kOverheadKernel = "do_nothing";  // takes one buffer of at least one cl_uint

// Its variant computes nothing and never goes into a bundle.
Job overhead_job(const Target& target);
bool is_overhead_job(const Job& job);

// Compiles and finalizes the kernel like a variant. Fails with opencl, or like finalize().
Result<std::vector<cache::Entry>> compile_overhead_job(const Job& job, const Device& device, const Session& session);

// Launches it once, enqueue to finish; microseconds. `program` is a built cl_program of the job. Fails with opencl.
Result<double> launch_overhead_kernel(cl_program program, const Session& session);

}  // namespace clbake::builder
