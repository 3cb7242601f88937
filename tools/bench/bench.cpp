// `clbake bench NAME ...`: hands over to one of the benchmarks; and what they share.
#include "bench/bench.hpp"

#include "cli/cli.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/usage.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace clbake::tool {
namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr int kMostPauses = 30;
constexpr double kLongTurnUs = 1e5;

constexpr Verb kBenchmarks[] = {
    {"cold", bench_cold, "time from a new process to its first correct result, beside other libraries"},
    {"gemm", bench_gemm, "speed of the bundle's kernels, beside other libraries or another bundle; cost of a call"},
    {"choice", bench_choice, "how close the profile's choices come to the best variants of the bundle"},
    {"bundle", bench_bundle, "size of a bundle, time to read and load it; time to open and search made-up ones"},
};

// The threads of some libraries spin after a call, OpenBLAS's for 2^28 cycles, and would slow the next library down.
void wait_until_idle() {
  for (int i = 0, idle = 0; i < kMostPauses && idle < 2; ++i) {  // twice, as some clocks tick every 16 ms
    const auto before = os::processor_time();
    std::this_thread::sleep_for(kPause);
    idle = os::processor_time() - before < kPause / 10 ? idle + 1 : 0;
  }
}

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
    std::printf("usage: clbake bench NAME [OPTIONS]\n'clbake bench NAME --help' shows the options of a benchmark.\n\n");
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

BenchDevice open_device(const Bundle& bundle, const std::string& spec) {
  for (const auto& [name, value] : builder::process::steady_environment()) {
    if (!os::variable(name)) os::set_variable(name, value);
  }
  const builder::Device device = device_for(bundle, spec);
  return {device, need(builder::Session::open(device))};
}

Library open_library(const BenchDevice& on, const Bundle& bundle, const Options& options) {
  return need(Library::create(on.session.context(), on.device.id, {bundle}, options));
}

Served serve(const BenchDevice& on, const Bundle& bundle, const std::string& file) {
  Options baked_only;
  baked_only.on_miss = OnMiss::fail;
  return {os::file_name_of(file), bundle, open_library(on, bundle, baked_only)};
}

double time_us(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void time_alternately(std::vector<TimedCall>& calls, std::size_t rounds) {
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (TimedCall& timed : calls) {
      wait_until_idle();
      if (round == 1) timed.us.clear();
      for (double turn = 0; turn < kLongTurnUs; turn += timed.us.back()) timed.us.push_back(time_us(timed.call));
    }
  }
}

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace clbake::tool
