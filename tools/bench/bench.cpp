// `clbake bench NAME ...`: hands over to one of the benchmarks.
#include "cli/cli.hpp"
#include "cli/printable.hpp"
#include "command/verbs.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

constexpr Verb kBenchmarks[] = {
    {"cold", bench_cold, "time from a new process to its first correct result, beside other libraries"},
    {"gemm", bench_gemm, "speed of the bundle's kernels, beside other libraries or another bundle; cost of a call"},
    {"choice", bench_choice, "how close the profile's choices come to the best variants of the bundle"},
    {"bundle", bench_bundle, "size of a bundle, time to read and load it; time to open and search made-up ones"},
};

std::string names() {
  std::string text;
  for (const Verb& benchmark : kBenchmarks) text += (text.empty() ? "" : ", ") + std::string(benchmark.name);
  return text;
}

}  // namespace

int bench(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("the name of a benchmark is missing: " + names());
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h") {
    std::printf("usage: clbake bench NAME [OPTIONS]\n'clbake help bench NAME' shows the options of a benchmark.\n\n");
    for (const Verb& benchmark : kBenchmarks) std::printf("  %-8s  %s\n", benchmark.name, benchmark.summary);
    return kSuccess;
  }
  for (const Verb& benchmark : kBenchmarks) {
    if (name != benchmark.name) continue;
    try {
      return benchmark.run({arguments.begin() + 1, arguments.end()});
    } catch (const Failure& failure) {
      return fail("clbake bench " + name + ": " + printable(failure.what()));
    }
  }
  throw UsageError("'" + name + "' is not a benchmark; there are: " + names());
}

}  // namespace clbake::tool
