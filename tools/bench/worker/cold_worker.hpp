// The trials of `bench cold`. Each runs in a new process, a worker.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// The arguments of a trial, as on the command line of the worker.
struct ColdJob {
  std::string spawned;  // steady_clock of the parent just before it started the process, nanoseconds
  std::string bundle;   // path
  std::string target;   // index of the device in the bundle
  std::string size;     // m = n = k of the product, in single precision
  std::string output;   // path of the result
};

// Times the steps from a new process to a bundle's first result: reaching main (start), finding the device (platform),
// making context and queue (context), opening the bundle and preparing the product (load), the first launch. Making the
// matrices, between context and load, is not timed. Checks the result, then times more runs (steady). An empty
// `variant` takes the profile's choice, as applications do; a name takes that variant as the driver alone would load it
// (Options::only_build). Writes {"start_ms", "platform_ms", "context_ms", "load_ms", "first_launch_ms",
// "first_result_ms" (load and first launch), "steady_ms", "origin", "variant"} to the job's output. Fails with
// wrong_result, or with what the runtime says.
Status cold_worker(const ColdJob& job, const std::string& variant);

// The same for a peer, with `threads` host threads. Opening its library counts as start, as for an application that
// links to it. It has no load; a peer without OpenCL has no platform, and its handle counts as context. Steps that a
// peer does not have take 0 ms.
Status cold_peer_worker(const ColdJob& job, const std::string& peer, const std::string& threads);

}  // namespace clbake::tool
