// What build and prove_bundle share: calls of the worker, and what their proofs say.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

namespace clbake::builder {

// The first of a proof's tools.
inline constexpr const char* kTool = "clbake " CLBAKE_VERSION;

// In the tools of an entry that was proven on a device that its target does not name: what follows is that device.
inline constexpr const char* kProvenOn = ", proven on ";

// The tools without that.
std::string makers(const cache::Proof& proof);

bool all_proven(const Job& job);

// Too slow a first launch of machine code may have been noise, which a new proof can clear.
bool noise_possible(const Job& job);

// Puts this version of clbake in front of the tools of every entry.
void sign(Job& job);

// Clears the proofs of programs that `tools` compiled for a device that is not here, and signs them.
void mark_unproven(Job& job, const std::string& tools);

// What a worker's exit status says.
bool is_full_disk(const Exit& exit);
bool is_wrong_result(const Exit& exit);
bool is_near_miss(const Exit& exit);

// `arguments` are the worker's verb and files, the output last: what an earlier run left there is removed. `cache`
// takes the driver's caches.
Command worker_command(const std::string& worker, const std::vector<std::string>& arguments,
                       const ScratchDirectory& cache, const std::string& log);

}  // namespace clbake::builder
