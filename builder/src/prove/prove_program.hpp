// The proof of an application's own program.
#pragma once

#include <clbake/builder/jobs.hpp>

#include "compile/overhead_job.hpp"

namespace clbake::builder {

// Runs the trials of the job's program in `library`, which serves this entry and nothing else: times first launches
// against later ones, and compares what the kernels leave in their buffers with what is expected or, without that, with
// what a build from the job's source leaves there. True when the proof should be repeated, as prove_job(). Fails with
// wrong_result, or with what else went wrong; the message names the kernel and its work-group size.
Result<bool> prove_program(const Job& job, const Device& device, const Session& session, const LaunchOverhead& overhead,
                           const Library& library, cache::Entry& entry);

}  // namespace clbake::builder
