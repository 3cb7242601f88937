// What build and prove_bundle share: calls of the worker, and what their proofs say.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

namespace clbake::builder {

// The first of a proof's tools.
inline constexpr const char* kTool = "clbake " CLBAKE_VERSION;

// A compiler that runs at the first launch runs in every new process; noise comes and goes. So an entry that looks not
// JIT-free is timed again.
inline constexpr int kProofAttempts = 3;

// In the tools of an entry that was proven on a device that its target does not name: what follows is that device.
inline constexpr const char* kProvenOn = ", proven on ";

// The tools without that.
std::string makers(const cache::Proof& proof);

bool all_proven(const Job& job);

// Too slow a first launch of machine code may have been noise, which a new proof can clear.
bool noise_possible(const Job& job);

// Puts this version of clbake in front of the tools of every entry.
void sign(Job& job);

// `arguments` are the worker's verb and files, the output last: what an earlier run left there is removed. `cache`
// takes the driver's caches.
Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log);

}  // namespace clbake::builder
