#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/added_options.hpp>
#include <clbake/builder/build.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

// The profiles that were baked by, for each device; equal ones have equal lists.
std::set<std::pair<std::string, std::string>> profiles_of(const std::vector<builder::build::BakeList>& bake_lists) {
  std::set<std::pair<std::string, std::string>> profiles;
  for (const builder::build::BakeList& list : bake_lists) {
    if (!list.profile.empty()) profiles.emplace(list.device, list.profile);
  }
  return profiles;
}

void print_report(const builder::build::BuildReport& report, const std::vector<builder::build::BakeList>& bake_lists,
                  const std::string& file) {
  const std::size_t entries = report.baked + report.reused;
  std::printf("%s: %s (%zu baked, %zu reused), %s\n", file.c_str(), counted(entries, "variant").c_str(), report.baked,
              report.reused, size_text(report.bytes).c_str());
  const auto profiles = profiles_of(bake_lists);
  for (const auto& [device, profile] : profiles) {
    const std::string of = profiles.size() > 1 ? " of " + device : "";
    std::printf("profile%s: %s\n", of.c_str(), profile.c_str());
  }
  const auto note = [](std::size_t count, const std::string& line) {
    if (count > 0) std::printf("%s\n", line.c_str());
  };
  const std::string of_all = " of " + counted(entries, "variant");
  note(report.failed, "left out: " + counted(report.failed, "variant") + " that failed, named above");
  note(report.dropped, "dropped: " + counted(report.dropped, "entry") + " of the earlier bundle");
  note(report.not_jit_free,
       "not JIT-free: " + std::to_string(report.not_jit_free) + of_all + "; 'clbake inspect " + file + "' says why");
  note(report.not_proven, "not proven: " + std::to_string(report.not_proven) + of_all +
                              ", for lack of the device; 'clbake prove' proves them there");
  note(report.not_tried, "not proven: " + std::to_string(report.not_tried) + of_all + ", for lack of a trial");
  for (const std::string& remark : report.remarks) std::printf("%s\n", printable(remark).c_str());
}

Json report_json(const builder::build::BuildReport& report, const std::vector<builder::build::BakeList>& bake_lists,
                 const std::string& file) {
  Json jobs = Json::array();
  for (const builder::build::JobReport& job : report.jobs) jobs.push_back(to_json(job));
  Json profiles = Json::array();
  for (const auto& [device, profile] : profiles_of(bake_lists)) {
    profiles.push_back({{"device", device}, {"profile", profile}});
  }
  return {{"file", file},
          {"profiles", profiles},
          {"bytes", report.bytes},
          {"baked", report.baked},
          {"reused", report.reused},
          {"failed", report.failed},
          {"not_jit_free", report.not_jit_free},
          {"not_proven", report.not_proven},
          {"not_tried", report.not_tried},
          {"dropped", report.dropped},
          {"remarks", report.remarks},
          {"jobs", jobs}};
}

// The devices that one of the profiles was made for. When there are none, all of them: build() then says so.
std::vector<builder::Device> tuned_ones(const std::vector<builder::Device>& devices,
                                        const std::vector<builder::profile::NamedTuning>& profiles) {
  std::vector<builder::Device> tuned;
  for (const builder::Device& device : devices) {
    const auto fits = [&](const builder::profile::NamedTuning& profile) {
      return builder::build::made_for(profile.tuning.target, device.target);
    };
    if (std::any_of(profiles.begin(), profiles.end(), fits)) tuned.push_back(device);
  }
  return tuned.empty() ? devices : tuned;
}

// The named targets and the selected devices. When neither is named: all devices, or with profiles those that they
// were made for.
void choose_devices(const Cli& cli, builder::build::BuildOptions& options) {
  if (cli.has("target")) {
    options.targets = need(builder::compile::offline_targets_named(cli.list("target")), "--target");
    if (!cli.has("device")) return;
  }
  options.devices = selected_devices(cli.text("device"));
  const bool any = cli.has("device") || options.profiles.empty() || options.foreign_profiles;
  if (!any) options.devices = tuned_ones(options.devices, options.profiles);
}

void declare_build_options(Cli& cli) {
  cli.add_required(
      "output,o", "FILE",
      "the bundle to write, with what is asked for alone; what an earlier file there has proven is not baked again");
  cli.add_device("; default: all devices, with --profile those that it was made for, with --target none");
  cli.add_list(
      "target", "LIST",
      "names of 'clbake targets', separated by commas: devices that are not in this machine; their programs are "
      "compiled but not proven");
  cli.add_precision("single,double, with --profile what was tuned");
  cli.add_list("variant", "LIST", "bake exactly these variants or presets, separated by commas");
  cli.add_flag("group", "bake variants for groups of products, too: products of different sizes in one launch");
  cli.add_list("profile", "LIST",
               "bake the winners of these profiles of 'clbake tune', separated by commas; default: the shipped profile "
               "for the class of the device");
  cli.add_value(
      "programs", "FILE",
      "bake the application's own kernels that this manifest names (builder/BAKING.md), or the programs.json of "
      "this folder, as of a recording; alone, no GEMM is baked beside them: that takes --precision, --variant, "
      "--profile or --untuned as well");
  cli.add_value(
      "store", "STORE",
      "a directory that keeps what is baked, for each driver apart: what it has proven is not baked again, and "
      "'clbake split' to the same place adds little");
  cli.add_flag("untuned", "bake the default variants instead of a shipped profile's");
  cli.add_flag("force", "use the profiles for other devices than those that they were made for, too");
  cli.add_jobs();
  cli.add_timeout("driver after this time; default 180");
  cli.add_flag("fresh", "bake everything that is asked for again, even what the earlier bundle or the store has");
  cli.add_flag(
      "reproducible",
      "leave out what differs from build to build: the times of the proofs, and their notes; whether a program "
      "is proven and JIT-free stays");
  cli.add_json();
}

void check_combinations(const Cli& cli) {
  const std::vector<Precision> precisions = cli.precisions("precision");
  if (cli.has("variant") && cli.has("precision") && !std::all_of(precisions.begin(), precisions.end(), is_complex)) {
    throw UsageError("--precision: each --variant has its own precision");
  }
  if (cli.has("variant") && cli.has("profile")) throw UsageError("--profile: --variant chooses the variants already");
  if (cli.has("variant") && cli.has("group")) throw UsageError("--group: --variant chooses the variants already");
  if (cli.has("force") && !cli.has("profile")) throw UsageError("--force: needs --profile");
}

std::vector<builder::program::Program> programs_of(const std::string& path) {
  if (os::native(path).extension() == ".cl") {
    throw UsageError("--programs: " + path + " is a source; 'clbake programs init' writes the manifest for it");
  }
  return need(builder::program::read_programs(path));
}

builder::build::BuildOptions options_from(const Cli& cli) {
  check_combinations(cli);
  builder::build::BuildOptions options;
  options.reproducible = cli.has("reproducible");
  options.group = cli.has("group");
  options.untuned = cli.has("untuned");
  options.foreign_profiles = cli.has("force");
  options.fresh = cli.has("fresh");
  options.output = behind_links(cli.text("output"));
  options.store = cli.text("store");
  if (cli.has("precision") || !cli.has("profile")) options.precisions = cli.precisions("precision");
  options.variants = variants_named(cli.list("variant"));
  options.gemm = !cli.has("programs") || cli.has("precision") || cli.has("variant") || cli.has("profile") ||
                 cli.has("untuned") || cli.has("group");
  options.worker = os::path_of_program();
  options.parallel = cli.jobs();
  options.timeout = cli.timeout(180);
  for (const std::string& file : cli.list("profile"))
    options.profiles.push_back({file, need(builder::profile::read_tuning(file))});
  if (cli.has("programs")) options.programs = programs_of(cli.text("programs"));
  choose_devices(cli, options);
  return options;
}

// Remarks about the programs and the devices, before the long work begins.
void print_remarks(const builder::build::BuildOptions& options,
                   const std::vector<builder::build::BakeList>& bake_lists) {
  for (const builder::program::Program& program : options.programs) {
    if (program.remark.empty()) continue;
    std::fprintf(stderr, "clbake build: program %s: %s\n", builder::program::shown_name(program.name).c_str(),
                 program.remark.c_str());
  }
  for (const builder::build::BakeList& bake_list : bake_lists) {
    for (const std::string& remark : bake_list.remarks) std::fprintf(stderr, "clbake build: %s\n", remark.c_str());
  }
}

Result<builder::build::BuildReport> bake(const builder::build::BuildOptions& options,
                                         const std::vector<builder::build::BakeList>& bake_lists) {
  ProgressBar bar;
  return builder::build::build(options, bake_lists, interrupted(), [&](const builder::build::Progress& progress) {
    if (!progress.failure.empty()) bar.message("clbake build: left out: " + progress.failure);
    bar.show(progress.steps_done, progress.steps, progress.last);
  });
}

}  // namespace

int build(const std::vector<std::string>& arguments) {
  Cli cli("build [OPTIONS] -o FILE", "Compiles, finalizes, proves and packs every variant into one bundle.");
  declare_build_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  need(no_added_options());
  const builder::build::BuildOptions options = options_from(cli);
  const std::vector<builder::build::BakeList> bake_lists = need(builder::build::bake_lists_for(options));
  print_remarks(options, bake_lists);

  const std::size_t signatures = signatures_in(options.output);
  const Result<builder::build::BuildReport> report = bake(options, bake_lists);
  if (report) tell_of_dropped("build", options.output, signatures);
  if (report.status().code() == Code::cancelled) {
    fail("clbake build: interrupted; finished work is kept, and the same command continues from there");
    return kInterrupted;
  }
  need(report.status());
  cli.has("json") ? print(report_json(*report, bake_lists, options.output))
                  : print_report(*report, bake_lists, options.output);
  return report->failed > 0 ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
