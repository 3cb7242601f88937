// The trials of `bench cold`, each in a process of its own.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::tool {

// What a trial needs, as text: it travels on the command line of a worker.
struct ColdJob {
  std::string spawned;  // steady_clock of the parent just before it started the process, in nanoseconds
  std::string bundle;   // path
  std::string target;   // index of the device in the bundle
  std::string size;     // m = n = k of the product, in single precision
  std::string output;   // path of the result
};

// A bundle's way to the first result. Each step is timed: to main (start), finding the device (platform), making
// context and queue (context), opening the bundle and preparing the product (load), its first launch. Matrices are made
// between context and load, outside of all times. Checks the result, then times more runs (steady). `variant`: empty
// for the profile's choice, as applications load it, or a name: that one as the driver alone would have it
// (Options::only_build). Writes {"start_ms", "platform_ms", "context_ms", "load_ms", "first_launch_ms",
// "first_result_ms" (load and first launch), "steady_ms", "origin", "variant"} to the job's output. Fails with
// wrong_result, or with what the runtime says.
Status cold_trial(const ColdJob& job, const std::string& variant);

// The same for the peer of that name, with `threads` threads on the host. Opening its library counts as start, as for
// an application that is linked to it, and it has no load. Without OpenCL it has no platform either, and its handle is
// its context. What is not there takes 0 ms.
Status cold_peer(const ColdJob& job, const std::string& peer, const std::string& threads);

// A process to be timed as a whole: makes context and queue and ends, or (`product`) opens the bundle and computes one
// product of constant matrices before. Checks nothing, writes nothing.
Status cold_process(const ColdJob& job, bool product);

}  // namespace clbake::tool
