#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "cli/variants.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/bake_list.hpp>
#include <clbake/builder/build.hpp>
#include <clbake/builder/process.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>

namespace clbake::tool {
namespace {

std::atomic<bool> interrupted{false};

void on_signal(int) { interrupted = true; }

void print_report(const builder::BuildReport& report, const std::string& file) {
  const std::size_t entries = report.baked + report.reused;
  std::printf("%s: %zu variants (%zu baked, %zu taken over), %zu bytes\n", file.c_str(), entries, report.baked,
              report.reused, report.bytes);
  for (const builder::ProfileReport& profile : report.profiles) {
    const std::string of = report.profiles.size() > 1 ? " of " + profile.device : "";
    std::printf("profile%s: %s\n", of.c_str(), profile.profile.c_str());
  }
  if (report.failed > 0) std::printf("left out: %zu variants that failed, each named above\n", report.failed);
  if (report.kept > 0) std::printf("kept: %zu entries of the earlier bundle that are not of this build\n", report.kept);
  if (report.dropped > 0) std::printf("dropped: %zu entries of the earlier bundle\n", report.dropped);
  if (report.not_jit_free > 0) {
    std::printf("not JIT-free: %zu of %zu entries; 'clbake inspect %s --json' says why\n", report.not_jit_free, entries,
                file.c_str());
  }
  if (report.not_proven > 0) {
    std::printf("not proven: %zu of %zu entries, whose devices are not here\n", report.not_proven, entries);
  }
  for (const std::string& remark : report.remarks) std::printf("%s\n", remark.c_str());
}

Json report_json(const builder::BuildReport& report, const std::string& file) {
  Json jobs = Json::array();
  for (const builder::JobReport& job : report.jobs) jobs.push_back(to_json(job));
  Json profiles = Json::array();
  for (const builder::ProfileReport& profile : report.profiles) {
    profiles.push_back({{"device", profile.device}, {"profile", profile.profile}});
  }
  return {{"file", file},
          {"profiles", profiles},
          {"bytes", report.bytes},
          {"baked", report.baked},
          {"reused", report.reused},
          {"failed", report.failed},
          {"not_jit_free", report.not_jit_free},
          {"not_proven", report.not_proven},
          {"kept", report.kept},
          {"dropped", report.dropped},
          {"remarks", report.remarks},
          {"jobs", jobs}};
}

// A variant that was asked for by name is not left out in silence.
void check_variant(const kernels::Params& params, const builder::Device& device, const std::string& name) {
  const std::string broken = violation(params, device);
  if (!broken.empty()) throw UsageError("--variant: " + kernels::name(params) + " on " + name + ": " + broken);
}

void check_variants(const builder::BuildOptions& options) {
  for (const kernels::Params& params : options.variants) {
    for (const builder::Device& device : options.devices) check_variant(params, device, device.target.device_name);
    for (const builder::OfflineTarget& target : options.targets) {
      check_variant(builder::offline_variant(target, params), target.device, target.name);
    }
  }
}

// Those of the devices that one of the profiles was made for; all when there is none, for build to refuse.
std::vector<builder::Device> tuned_ones(const std::vector<builder::Device>& devices,
                                        const std::vector<builder::NamedTuning>& profiles) {
  std::vector<builder::Device> tuned;
  for (const builder::Device& device : devices) {
    const auto fits = [&](const builder::NamedTuning& profile) {
      return builder::made_for(profile.tuning.target, device.target);
    };
    if (std::any_of(profiles.begin(), profiles.end(), fits)) tuned.push_back(device);
  }
  return tuned.empty() ? devices : tuned;
}

Status read_profiles(const Cli& cli, builder::BuildOptions& options) {
  for (const std::string& file : cli.list("profile")) {
    Result<builder::Tuning> tuning = builder::read_tuning(file);
    if (!tuning) return tuning.status();
    options.profiles.push_back({file, std::move(*tuning)});
  }
  return {};
}

// What to build for: the named targets, the selected devices; when neither is named all devices, or with profiles
// those that they were made for.
Status choose_devices(const Cli& cli, builder::BuildOptions& options) {
  if (cli.has("target")) {
    Result<std::vector<builder::OfflineTarget>> targets = builder::offline_targets_named(cli.list("target"));
    if (!targets) return targets.status().within("--target");
    options.targets = std::move(*targets);
    if (!cli.has("device")) return {};
  }
  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return all.status();
  Result<std::vector<builder::Device>> selected = builder::select_devices(*all, cli.text("device"));
  if (!selected) return selected.status().within("--device");
  const bool any = cli.has("device") || options.profiles.empty() || options.foreign_profiles;
  options.devices = any ? std::move(*selected) : tuned_ones(*selected, options.profiles);
  return {};
}

}  // namespace

int build(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Cli cli("build [OPTIONS] -o FILE.clbake", "Compiles, finalizes, proves and packs every variant into one bundle.");
  cli.options()("output,o", po::value<std::string>()->required(),
                "the bundle to write; if it exists, what it has proven already is not baked again, and what it holds "
                "for other devices, drivers, precisions or transposes stays");
  cli.options()("device", po::value<std::string>(),
                "SPEC: an index of 'clbake devices', or part of a platform's or device's name; default: all devices, "
                "with --profile those that it was made for; with --target none");
  cli.options()("target", po::value<std::vector<std::string>>()->composing(),
                "devices that are not here, of 'clbake targets', separated by commas: compiled, not proven");
  cli.options()("precision", po::value<std::string>(),
                "half, single, double, separated by commas; default single,double, with --profile what was tuned");
  cli.options()("variant", po::value<std::vector<std::string>>()->composing(),
                "bake exactly these variants or presets, separated by commas, instead of the default ones");
  cli.options()("profile", po::value<std::vector<std::string>>()->composing(),
                "bake the winners of these PROFILE.json of 'clbake tune', separated by commas; default: the shipped "
                "profile of the device's class");
  cli.options()("untuned", "bake the default variants, not the shipped profile of the device's class");
  cli.options()("force", "take the profiles for other devices, too, than those that they were made for");
  cli.options()("jobs", po::value<std::string>(), "compilations at a time; default: one for each core");
  cli.options()("timeout", po::value<std::string>(), "seconds after which a driver is given up; default 180");
  cli.options()("fresh", "bake everything that is asked for anew");
  cli.options()("replace", "drop what the earlier bundle holds beside what is asked for");
  cli.options()("strict", "fail, and write nothing, when a variant fails, instead of leaving it out");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;

  builder::BuildOptions options;
  options.strict = cli.has("strict");
  options.untuned = cli.has("untuned");
  options.output = behind_links(cli.text("output"));
  if (cli.has("precision") || !cli.has("profile")) options.precisions = cli.precisions("precision");
  options.variants = variants_named(cli.list("variant"));
  if (cli.has("variant") && cli.has("precision")) throw UsageError("--precision: the variants have their own");
  if (cli.has("variant") && cli.has("profile")) throw UsageError("--profile: --variant names the variants already");
  if (cli.has("force") && !cli.has("profile")) throw UsageError("--force: is about a --profile, and none is given");
  options.foreign_profiles = cli.has("force");
  options.fresh = cli.has("fresh");
  options.replace = cli.has("replace");
  options.worker = builder::own_path();
  options.parallel = static_cast<unsigned>(cli.size("jobs", 0, 0, 1024));
  options.timeout = std::chrono::seconds(cli.size("timeout", 180, 1, 86400));
  Status ready = read_profiles(cli, options);
  if (ready) ready = choose_devices(cli, options);
  if (!ready) return fail("build", ready);
  check_variants(options);
  const Result<std::vector<builder::BakeList>> bake_lists = builder::bake_lists_for(options);
  if (!bake_lists) return fail("build", bake_lists.status());
  for (const builder::BakeList& bake_list : *bake_lists) {
    for (const std::string& remark : bake_list.remarks) fail("clbake build: " + remark);
  }

  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  ProgressBar bar;
  const auto show = [&](const builder::Progress& progress) {
    if (!progress.failure.empty()) bar.message("clbake build: left out: " + progress.failure);
    bar.show(progress.steps_done, progress.steps, progress.last);
  };
  const Result<builder::BuildReport> report = builder::build(options, *bake_lists, interrupted, show);
  if (report.status().code() == Code::cancelled) {
    bar.message("clbake build: interrupted; what is done is kept, the same command goes on from there");
    return kInterrupted;
  }
  if (!report) {
    bar.message("clbake build: " + report.status().message());
    return kFailure;
  }
  bar.clear();
  if (cli.has("json")) {
    print(report_json(*report, options.output));
  } else {
    print_report(*report, options.output);
  }
  return report->failed > 0 ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
