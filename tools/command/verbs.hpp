// The verbs of the command: a function each, which takes the arguments after the verb and returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

using Arguments = std::vector<std::string>;
using VerbFunction = int(const Arguments& arguments);

struct Verb {
  const char* name;
  VerbFunction* run;
  const char* summary;  // one line of the help
  int failure = 1;      // exit status of a failure
};

VerbFunction devices, targets, space, build, run, prove, check, diff, prune, verify, keygen, sign, split, record,
    run_with, capture, programs, merge, report, inspect, plan, work, embed, tune, bench, bench_bundle, bench_choice,
    bench_cold, bench_gemm;

// Child processes: of the other verbs, and of programs under the layer. Users do not call them.
VerbFunction worker, learn;

}  // namespace clbake::tool
