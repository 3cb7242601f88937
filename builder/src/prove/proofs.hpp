// Proofs as files: what a proving worker gets and leaves.
#pragma once

#include <clbake/builder/jobs.hpp>

namespace clbake::builder::prove {

// True when each entry has been through a proof that it did not fail: it is proven, or there was nothing to try.
bool all_judged(const Job& job);

// True when a new proof may find proven machine code JIT-free that this one did not, as times are compared. Functions,
// where the driver names those that a program holds, are counted.
bool noise_possible(const Job& job);

// A job whose kernel does nothing. Its first load and first launch in a process take what the driver needs for any
// program when there is nothing to compile. It never goes into a bundle.
Job overhead_job(const Target& target);

// The output of a proof is the job with a digest in the place of each program.
Status write_proofs(const std::string& path, Job job);

// The job in the file `compiled` with the proofs in the file `proven`. Fails like read_job, or with malformed when the
// proofs are of other programs, or none.
Result<Job> read_proven(const std::string& compiled, const std::string& proven);

}  // namespace clbake::builder::prove
