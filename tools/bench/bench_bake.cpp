// `clbake bench bake`: time to bake, beside the time of the driver's compiler alone.
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

// The device's default variants, then the same with other depths of the k blocks, up to `count`.
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

// Milliseconds that the driver alone takes to compile all variants, one after another.
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
  if (report->failed > 0) return Status(Code::build_failed, counted(report->failed, "variant") + " failed");
  return took.count();
}

}  // namespace

int bench_bake(const std::vector<std::string>& arguments) {
  Cli cli("bench bake [OPTIONS]",
          "Bakes and proves variants into a temporary bundle, and compares the time with the sum of what the driver\n"
          "alone takes to compile them, one after another with an empty cache.");
  cli.add_device("; default: the first device");
  cli.add_value("count", "N", "number of variants; default 50");
  cli.add_jobs();
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t count = cli.size("count", 50, 1, 1000);
  const unsigned parallel = cli.jobs();
  const Result<builder::Device> device = selected_device(cli.text("device"));
  if (!device) return fail("bench bake", device.status());
  const std::vector<kernels::Params> variants = variants_to_bake(*device, count);
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench bake", scratch.status());

  ProgressBar bar;
  const Result<double> alone = time_compilations(*device, variants, scratch->path(), bar);
  if (!alone) return fail("bench bake", alone.status());
  const Result<double> baked = time_baking(*device, variants, parallel, scratch->path(), bar);
  if (!baked) return fail("bench bake", baked.status());
  bar.clear();
  if (cli.has("json")) {
    print({{"device", device->target.device_name},
           {"variants", variants.size()},
           {"compile_s", *alone / 1e3},
           {"bake_s", *baked / 1e3},
           {"ratio", *baked / *alone}});
  } else {
    std::printf("%s; %s\nthe driver's compiler alone %8.1f s\nbaked and proven            %8.1f s = %.2f x\n",
                device->target.device_name.c_str(), counted(variants.size(), "variant").c_str(), *alone / 1e3,
                *baked / 1e3, *baked / *alone);
  }
  return kSuccess;
}

}  // namespace clbake::tool
