// The learner: a process beside a program that runs under the layer. What the program's driver had to compile, it
// compiles again, finalizes, proves to load without compiling, and keeps in the user's overlay for the next process.
// runtime/layer/LEARNING.md says when and under which rules.
#pragma once

#include <clbake/overlay.hpp>

#include <string>

namespace clbake::builder::learn {

struct Settings {
  OverlayOptions overlay;  // mode read_write
  std::string log;         // absolute path of the file that gets a line for each program; empty: none
  std::string worker;      // the `clbake` command
};

// Takes requests from the standard input (runtime/layer/learn/sender.hpp) until the layer has ended or has been silent
// for long, and works when it has been silent for 2 s. Lowers the priority of the process. One program that cannot be
// learned stops nothing: the log says why. Fails with io when the overlay cannot be written or the input is not the
// layer's.
Status learn(const Settings& settings);

// Workers, each with empty driver caches.

// Compiles the program of a request (clbake/learn_request.hpp, in a file), finalizes it, and writes it as a job with
// its machine code to `output`. On PoCL with the functions of the launches that were seen; where the program gave no
// local size, the driver is asked for the one that it chooses. PoCL compiles some of the functions of one local size in
// a process of its own: then the worker starts anew, for the next `pass`. Fails with driver_rejected where the driver
// gives no machine code, with build_failed, or like finalize().
Status compile_learned(const std::string& request, const std::string& output, std::size_t pass = 0);

// Loads what compile_learned left and creates all kernels. Writes the proof to `output`: jit_free when nothing was
// compiled; specialisations, the functions that the driver then has. Nothing is launched, so it is not `proven`.
Status prove_learned(const std::string& job, const std::string& output);

}  // namespace clbake::builder::learn
