// Programs that run under the layer (runtime/layer), for the verbs that start them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clbake::tool {

// The arguments of a verb: its own, and behind "--" a program with its arguments.
struct WithCommand {
  std::vector<std::string> own;
  std::vector<std::string> command;  // empty when help is asked for
};
// Throws UsageError where no program to run stands behind "--".
WithCommand split_command(const std::vector<std::string>& arguments);

// Runs the program in this terminal, under the layer and with these variables set, and returns its exit status; 128 and
// the signal's number when one killed it. While it runs, SIGINT and SIGQUIT are left to it, and SIGTERM and SIGHUP are
// passed on. The loader of OpenCL that this machine has loads the layer (OPENCL_LAYERS) or, if it has no layers, a
// library that is loaded before it does (LD_PRELOAD). Throws Failure when the layer is not installed, or the program
// cannot be started.
int run_under_layer(const std::vector<std::string>& command,
                    const std::vector<std::pair<std::string, std::string>>& environment);

// This process becomes the program, with those variables and with CLBAKE_LEARNER, this command, if that is not set.
// Throws Failure as run_under_layer does.
[[noreturn]] void become_under_layer(const std::vector<std::string>& command,
                                     const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace clbake::tool
