// clbake VERB ...: see `clbake --help`.
#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/os/program.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace clbake::tool {
namespace {

constexpr Verb kVerbs[] = {
    {"devices", devices, "list the OpenCL devices and the target identity a bundle gives them"},
    {"targets", targets, "list the devices that 'build' can compile for without having them"},
    {"space", space, "list the kernels' parameters and their values"},
    {"record", record, "run an OpenCL program, unchanged, and record what it compiles and launches, for 'build'"},
    {"run-with", run_with, "run an OpenCL program, unchanged, with what bundles hold and what was learnt"},
    {"capture", capture, "join recordings: of OpenCL programs, or of GEMM's calls into a shapes file"},
    {"programs", programs, "begin a manifest of an application's own kernels"},
    {"tune", tune, "find the best variants of a device for every kind of problem: a profile for 'build'"},
    {"build", build, "bake a bundle: compile, finalize, prove and pack every variant"},
    {"prove", prove, "prove programs that were baked on a machine without their device"},
    {"run", run, "run a GEMM from a bundle on random matrices and check the result"},
    {"inspect", inspect, "verify every byte of a bundle and show what it holds"},
    {"check", check, "say whether a bundle serves all problems of a file on all of its targets"},
    {"diff", diff, "show what differs between two bundles", 2},
    {"verify", verify, "verify every byte of bundles and, with a key or a digest, where they come from"},
    {"keygen", keygen, "make a key that signs bundles"},
    {"sign", sign, "sign a bundle, or an index of slices"},
    {"split", split, "divide a bundle into slices, of which a device fetches its own, and an index"},
    {"report", report, "write a page about a release: what it serves where, and what changed"},
    {"merge", merge, "join bundles, and what overlays gathered, into one"},
    {"prune", prune, "leave out of a bundle what some problems and targets do not need"},
    {"plan", plan, "divide baking among machines: a manifest of pieces of work, and scripts for schedulers"},
    {"work", work, "do pieces of a manifest on this machine, or show which are done"},
    {"embed", embed, "make a bundle part of a program, for build systems other than CMake"},
    {"bench", bench, "measure first calls, speed beside other libraries, and more: 'clbake bench --help'"},
};
// Child processes, of build, tune, prove and bench, and of the layer; not in the help.
constexpr Verb kChildren[] = {{"worker", worker, nullptr}, {"learn", learn, nullptr}};

int usage(std::FILE* to) {
  std::fprintf(to, "clbake %s: OpenCL with nothing left to compile\n\nusage: clbake VERB [OPTIONS]\n\n",
               CLBAKE_VERSION);
  for (const Verb& verb : kVerbs) std::fprintf(to, "  %-9s %s\n", verb.name, verb.summary);
  std::fprintf(to,
               "\n'clbake VERB --help' shows the options of a verb. Exit status: 0 success, 1 failure,\n"
               "2 wrong usage, 3 something that was asked for was left out, 130 interrupted.\n");
  return to == stdout ? kSuccess : kUsage;
}

bool stdout_is_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

int fail_to_write() { return fail("clbake: the output cannot be written to stdout"); }

int run_verb(const Verb& verb, const Arguments& arguments) {
  try {
    const int status = verb.run(arguments);
    if (stdout_is_written()) return status;
    fail_to_write();
    std::clearerr(stdout);  // it has been said
    return verb.failure;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "clbake %s: %s\n", verb.name, error.what());
    return kUsage;
  } catch (const std::exception& error) {  // a Failure, or one of the standard library or Boost
    fail("clbake " + std::string(verb.name) + ": " + printable(error.what()));
    return verb.failure;
  }
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) return usage(stderr);
  const std::string& name = arguments[0];
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (name == "help" || name == "--help" || name == "-h") return usage(stdout);
  if (name == "--version") {
    std::printf("clbake %s\n", CLBAKE_VERSION);
    return kSuccess;
  }
  for (const Verb& verb : kChildren) {
    if (name == verb.name) return run_verb(verb, rest);
  }
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return run_verb(verb, rest);
  }
  std::fprintf(stderr, "clbake: unknown verb '%s'; 'clbake --help' lists them\n", name.c_str());
  return kUsage;
}

}  // namespace
}  // namespace clbake::tool

int main(int argc, char** argv) {
  const int status = clbake::tool::dispatch(clbake::os::begin_program(argc, argv));
  return clbake::tool::stdout_is_written() ? status : clbake::tool::fail_to_write();
}
