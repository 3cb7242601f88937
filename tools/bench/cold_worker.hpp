// The trials of `bench cold`. Each runs in a new process, a worker.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

// A trial's way to its first result: one variant of a bundle, or another library.
struct ColdJob {
  std::string bundle;   // path; a peer takes the device from it
  std::string target;   // index of the device in the bundle
  std::string size;     // m = n = k of the product, in single precision
  std::string peer;     // empty: clbake
  std::string variant;  // empty: the profile's choice, as applications do; else as the driver alone would load it
};

// The arguments of `clbake worker` for a trial that starts now and writes its result to the file `output`.
std::vector<std::string> cold_arguments(const ColdJob& job, const std::string& output);

// Runs a trial by its arguments: times the steps from a new process to a bundle's first result: reaching main (start),
// finding the device (platform), making context and queue (context), opening the bundle and preparing the product
// (load), the first launch. Making the matrices, between context and load, is not timed. Checks the result, then times
// more runs (steady). Opening a peer's library counts as start, as for an application that links to it; a peer has no
// load, and one without OpenCL no platform: these take 0 ms. Writes {"start_ms", "platform_ms", "context_ms",
// "load_ms", "first_launch_ms", "first_result_ms" (load and first launch), "steady_ms"}, and of clbake "origin" and
// "variant". Throws Failure for a wrong result, or with what the runtime or the peer says.
void cold_worker(const std::vector<std::string>& arguments);

}  // namespace clbake::tool
