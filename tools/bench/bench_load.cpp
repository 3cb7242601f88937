// `clbake bench load`: time to load each program of a bundle.
#include "bench/bench_device.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

// Microseconds of the driver's three calls, their sum, and Library::prepare, or Library::program, as a whole; the last
// also in a library that trusts the bundle.
struct Load {
  std::string variant;
  std::vector<double> create, build, kernel, driver, prepare, trusted;
};

// `file`: opened anew, so that nothing of it is kept yet.
Result<Library> library_of(const std::string& file, const BenchDevice& on, const std::shared_ptr<const Trust>& trust) {
  Options options;
  options.on_miss = OnMiss::fail;
  options.only_build = true;
  options.trust = trust;
  const Result<Bundle> bundle = Bundle::open(file);
  if (!bundle) return bundle.status();
  return open_library(on, *bundle, options);
}

// Loads one program, which the library does not have yet.
Result<Explanation> load_once(const Library& library, const cache::Variant& v, double& prepare_us) {
  const auto start = std::chrono::steady_clock::now();
  const auto stop = [&] {
    prepare_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  };
  if (v.is_program()) {
    const Result<LoadedProgram> program = library.program(v.name);
    stop();
    if (!program) return program.status();
    return program->explanation();
  }
  const Problem problem = builder::tight_problem(v.precision, 1, 1, 1, v.trans_a, v.trans_b);
  const Result<Gemm> gemm = library.prepare(problem, v.name);
  stop();
  if (!gemm) return gemm.status();
  return gemm->explanation();
}

// Variant after variant in each round, through a new library, as an older one would have kept them; the first program
// of the process is a row of its own.
Result<std::vector<Load>> measure(const std::string& file, const BenchBundle& bundle, std::uint32_t target,
                                  std::size_t rounds, const std::shared_ptr<const Trust>& trust) {
  std::vector<Load> loads = {{"(the first program of the process)", {}, {}, {}, {}, {}, {}}};
  for (std::size_t round = 0; round < rounds; ++round) {
    std::size_t row = 1;
    const Result<Library> library = library_of(file, bundle.on, nullptr), trusting = library_of(file, bundle.on, trust);
    if (!library || !trusting) return library ? trusting.status() : library.status();
    for (std::uint32_t i = 0; i < bundle.bundle.variant_count(); ++i) {
      const Result<cache::Variant> variant = bundle.bundle.variant(i);
      if (!variant) return variant.status();
      if (!bundle.bundle.find_entry(target, i)) continue;
      double prepare_us = 0, trusted_us = 0;
      const Result<Explanation> e = load_once(*library, *variant, prepare_us);
      if (!e) return e.status().within(variant->name);
      const Status trusted = trust ? load_once(*trusting, *variant, trusted_us).status() : Status();
      if (!trusted) return trusted.within(variant->name);
      if (loads.size() == row) loads.push_back({variant->name, {}, {}, {}, {}, {}, {}});
      Load& load = loads[0].create.empty() ? loads[0] : loads[row];
      load.create.push_back(e->create_us);
      load.build.push_back(e->build_us);
      load.kernel.push_back(e->kernel_us);
      load.driver.push_back(e->create_us + e->build_us + e->kernel_us);
      load.prepare.push_back(prepare_us);
      if (trust) load.trusted.push_back(trusted_us);
      ++row;
    }
  }
  loads.erase(std::remove_if(loads.begin(), loads.end(), [](const Load& load) { return load.create.empty(); }),
              loads.end());
  return loads;
}

Json to_json(const Load& load) {
  return {{"variant", load.variant},
          {"loads", load.create.size()},
          {"create_us", builder::median(load.create)},
          {"build_us", builder::median(load.build)},
          {"kernel_us", builder::median(load.kernel)},
          {"driver_us", builder::median(load.driver)},
          {"prepare_us", builder::median(load.prepare)},
          {"trusted_us", load.trusted.empty() ? Json() : Json(builder::median(load.trusted))}};
}

void print_table(const Json& rows) {
  std::size_t width = 7;
  for (const Json& row : rows) width = std::max(width, row["variant"].get<std::string>().size());
  const bool trusted = !rows.empty() && !rows[0]["trusted_us"].is_null();
  std::printf("%-*s %9s %9s %9s %9s %9s%s\n", static_cast<int>(width), "variant", "create us", "build us", "kernel us",
              "driver us", "prepare", trusted ? "   trusted" : "");
  for (const Json& row : rows) {
    std::printf("%-*s %9.1f %9.1f %9.1f %9.1f %9.1f", static_cast<int>(width),
                row["variant"].get<std::string>().c_str(), row["create_us"].get<double>(),
                row["build_us"].get<double>(), row["kernel_us"].get<double>(), row["driver_us"].get<double>(),
                row["prepare_us"].get<double>());
    if (trusted) std::printf(" %9.1f", row["trusted_us"].get<double>());
    std::printf("\n");
  }
}

}  // namespace

int bench_load(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench load FILE [OPTIONS]",
      "Loads every program of the bundle for a device several times in one process: medians of the driver's calls,\n"
      "and of Library::prepare or Library::program as a whole. The first program of the process has a row of its own. "
      "The driver's cache\n"
      "is the user's.");
  cli.add_device();
  cli.add_value("rounds", "N", "times that each program is loaded; default 7");
  cli.add_flag("trust", "also load each in a library that trusts the bundle's signers or, without any, its digest");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 7, 2, 10000);
  const Result<BenchBundle> bundle = open_bundle(cli.file(), cli.text("device"));
  if (!bundle) return fail("bench load", bundle.status());
  const Target& device = bundle->on.device.target;
  const Result<std::uint32_t> target = bundle->bundle.find_target(device);
  if (!target) return fail("bench load", target.status().within(cli.file()));
  const std::shared_ptr<const Trust> trust = cli.has("trust") ? trust_of_itself(bundle->bundle) : nullptr;
  if (cli.has("trust") && !trust) return fail("clbake bench load: " + cli.file() + ": nothing in it can be trusted");
  const Result<std::vector<Load>> loads = measure(cli.file(), *bundle, *target, rounds, trust);
  if (!loads) return fail("bench load", loads.status());
  Json rows = Json::array();
  for (const Load& load : *loads) rows.push_back(to_json(load));
  if (cli.has("json")) {
    print({{"device", device.device_name}, {"rounds", rounds}, {"rows", rows}});
  } else {
    print_table(rows);
  }
  return kSuccess;
}

}  // namespace clbake::tool
