// clbake VERB ...: see `clbake --help`.
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

struct Verb {
  const char* name;
  int (*run)(const std::vector<std::string>& arguments);
  const char* summary;  // null: not for people
};

constexpr Verb kVerbs[] = {
    {"devices", clbake::tool::devices, "list the OpenCL devices and the target identity a bundle gives them"},
    {"targets", clbake::tool::targets, "list the devices that 'build' can compile for without having them"},
    {"space", clbake::tool::space, "list the kernels' parameters, and how many variants a device can run"},
    {"tune", clbake::tool::tune, "find the best variants of a device for every kind of problem: a profile for 'build'"},
    {"build", clbake::tool::build, "bake a bundle: compile, finalize, prove and pack every variant"},
    {"prove", clbake::tool::prove, "prove what was baked where its device was not"},
    {"run", clbake::tool::run, "run a GEMM from a bundle on random matrices and check the result"},
    {"inspect", clbake::tool::inspect, "show what a bundle holds, after verifying every byte"},
    {"merge", clbake::tool::merge, "join bundles, and what overlays gathered, into one"},
    {"embed", clbake::tool::embed, "make a bundle part of a program, for build systems other than CMake"},
    {"bench", clbake::tool::bench,
     "measure: 'cold' first calls, 'gemm' speed beside other libraries, 'choice' of variants by the\n"
     "           profile, 'presets' known kernels, 'load' programs, 'bake' a build"},
    {"worker", clbake::tool::worker, nullptr},
};

int usage(std::FILE* to) {
  std::fprintf(to, "clbake %s: OpenCL GEMM with nothing left to compile\n\nusage: clbake VERB [OPTIONS]\n\n",
               CLBAKE_VERSION);
  for (const Verb& verb : kVerbs) {
    if (verb.summary) std::fprintf(to, "  %-8s %s\n", verb.name, verb.summary);
  }
  std::fprintf(to,
               "\n'clbake VERB --help' shows the options of a verb. Exit status: 0 success, 1 failure, 2 wrong usage,\n"
               "3 something was left out of the bundle, or not proven by 'prove', 130 interrupted.\n");
  return to == stdout ? clbake::tool::kSuccess : clbake::tool::kUsage;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return usage(stderr);
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") return usage(stdout);
  if (name == "--version") {
    std::printf("clbake %s\n", CLBAKE_VERSION);
    return clbake::tool::kSuccess;
  }
  for (const Verb& verb : kVerbs) {
    if (name != verb.name) continue;
    try {
      return verb.run({arguments.begin() + 1, arguments.end()});
    } catch (const clbake::tool::UsageError& error) {
      std::fprintf(stderr, "clbake %s: %s\n", verb.name, error.what());
      return clbake::tool::kUsage;
    } catch (const std::exception& error) {  // the standard library's and Boost's; clbake's own code throws none
      return clbake::tool::fail("clbake " + name + ": " + error.what());
    }
  }
  std::fprintf(stderr, "clbake: unknown verb '%s'; 'clbake --help' lists them\n", name.c_str());
  return clbake::tool::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // at a limit on file sizes a write fails, as on a full disk, instead of killing us
  const int status = dispatch({argv + 1, argv + argc});
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return clbake::tool::fail("clbake: the output cannot be written to stdout");
}
