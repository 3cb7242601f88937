// `clbake bench bake`: what baking costs beside what the driver's compiler alone would take.
#include "bench/compile_trial.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "cli/worker_call.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/build.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>

#include <chrono>
#include <cstdio>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;

// The default variants of the device, then the same with other depths of their k blocks, up to `count`.
std::vector<kernels::Params> variants_to_bake(const builder::Device& device, std::size_t count) {
  std::vector<kernels::Params> defaults;
  for (const Precision precision : all_precisions) {
    for (const kernels::Params& p : kernels::default_variants(device.type, precision, device.vector_bytes)) {
      if (kernels::admits(device.limits, p)) defaults.push_back(p);
    }
  }
  std::vector<kernels::Params> chosen = defaults;
  for (std::uint32_t divisor = 2; divisor <= 16 && chosen.size() < count; divisor *= 2) {
    for (kernels::Params p : defaults) {
      if (p.kl % divisor != 0) continue;
      p.kl /= divisor;
      if (kernels::admits(device.limits, p)) chosen.push_back(p);
    }
  }
  chosen.resize(std::min(count, chosen.size()));
  return chosen;
}

// Milliseconds of the driver for all variants, one after another.
Result<double> time_compilations(const builder::Device& device, const std::vector<kernels::Params>& variants,
                                 const std::string& scratch, ProgressBar& bar) {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string job = scratch + "/job";
    const std::string output = scratch + "/times.json";
    const Status written =
        builder::write_job(job, builder::make_job(device.target, kernels::generate(variants[i]), variants[i]));
    if (!written) return written;
    const Result<builder::ScratchDirectory> cache = builder::ScratchDirectory::create();
    if (!cache) return cache.status();
    const Status ran = call_worker({"compile-time", job, output}, cache->path(), scratch + "/log");
    if (!ran) return ran.within(kernels::name(variants[i]));
    const Result<Json> times = read_json(output);
    if (!times) return times.status();
    for (const char* part : {"build_ms", "launch_ms", "binary_ms"}) sum += (*times)[part].get<double>();
    bar.show(i + 1, variants.size(), "compiled alone: " + kernels::name(variants[i]));
  }
  return sum;
}

Result<double> time_baking(const builder::Device& device, const std::vector<kernels::Params>& variants,
                           unsigned parallel, const std::string& scratch, ProgressBar& bar) {
  builder::BuildOptions options;
  options.devices = {device};
  options.variants = variants;
  options.output = scratch + "/baked.clbake";
  options.worker = builder::own_path();
  options.parallel = parallel;
  const std::atomic<bool> never{false};
  const auto start = std::chrono::steady_clock::now();
  const Result<builder::BuildReport> report = builder::build(options, never, [&](const builder::Progress& progress) {
    bar.show(progress.steps_done, progress.steps, progress.last);
  });
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!report) return report.status();
  if (report->failed > 0) return Status(Code::build_failed, std::to_string(report->failed) + " variants failed");
  return took.count();
}

}  // namespace

int bench_bake(const std::vector<std::string>& arguments) {
  Cli cli("bench bake [OPTIONS]",
          "Bakes variants into a bundle that is thrown away, proofs included, and compares the time with the sum of\n"
          "what the driver alone takes to compile them, one after another with an empty cache.");
  cli.options()("device", po::value<std::string>(), "SPEC: an index of 'clbake devices', or part of a name");
  cli.options()("count", po::value<std::string>(), "variants; default 50");
  cli.options()("jobs", po::value<std::string>(), "compilations at a time; default: one for each core");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t count = cli.size("count", 50, 1, 1000);
  const auto parallel = static_cast<unsigned>(cli.size("jobs", 0, 0, 1024));

  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return fail("bench bake", all.status());
  const Result<std::vector<builder::Device>> selected = builder::select_one_target(*all, cli.text("device"));
  if (!selected) return fail("bench bake", selected.status().within("--device"));
  const builder::Device& device = selected->front();
  const std::vector<kernels::Params> variants = variants_to_bake(device, count);
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench bake", scratch.status());

  ProgressBar bar;
  const Result<double> alone = time_compilations(device, variants, scratch->path(), bar);
  if (!alone) return fail("bench bake", alone.status());
  const Result<double> baked = time_baking(device, variants, parallel, scratch->path(), bar);
  if (!baked) return fail("bench bake", baked.status());
  bar.clear();
  if (cli.has("json")) {
    print({{"device", device.target.device_name},
           {"variants", variants.size()},
           {"compile_s", *alone / 1e3},
           {"bake_s", *baked / 1e3},
           {"ratio", *baked / *alone}});
  } else {
    std::printf("%s; %zu variants\nthe driver's compiler alone %8.1f s\nbaked and proven            %8.1f s = %.2f x\n",
                device.target.device_name.c_str(), variants.size(), *alone / 1e3, *baked / 1e3, *baked / *alone);
  }
  return kSuccess;
}

}  // namespace clbake::tool
