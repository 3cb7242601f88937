// `clbake bench presets`: speed of published kernels on this device.
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "cli/variants.hpp"
#include "cli/worker_call.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/scratch.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

// The device to measure on, and the programs that a bundle has for it.
struct Setting {
  builder::Device device;
  std::vector<builder::Job> baked;
};

Result<Setting> from_bundle(const std::string& file, const std::string& spec) {
  const Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  const Result<builder::Device> device = device_for(*bundle, spec);
  if (!device) return device.status();
  Result<std::vector<builder::Job>> jobs = builder::jobs_of(*bundle);
  if (!jobs) return jobs.status().within(file);
  Setting setting{*device, {}};
  for (builder::Job& job : *jobs) {
    if (job.target == device->target) setting.baked.push_back(std::move(job));
  }
  return setting;
}

Result<Setting> find_setting(const std::string& file_or_device, const std::string& spec) {
  std::error_code error;
  if (std::filesystem::exists(file_or_device, error)) return from_bundle(file_or_device, spec);
  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return all.status();
  const Result<std::vector<builder::Device>> selected = builder::select_one_target(*all, file_or_device);
  if (!selected) return Status(selected.status().code(), "no such file, and " + selected.status().message());
  return Setting{selected->front(), {}};
}

// The baked program if this version of clbake still generates the same kernel, else one to compile.
builder::Job job_for(const Setting& setting, const kernels::Params& params) {
  builder::Job job = builder::make_job(setting.device.target, kernels::generate(params), params);
  for (const builder::Job& baked : setting.baked) {
    if (builder::same_work(baked, job)) return baked;
  }
  return job;
}

struct Timing {
  std::string sizes;
  std::size_t rounds = 5;
};

// The figures of one preset. A child measures them: a driver that crashes costs only this line of the table.
Result<Json> measure(const Setting& setting, const kernels::Preset& preset, const Timing& timing,
                     const std::string& scratch) {
  const std::string job = scratch + "/preset.job";
  const std::string output = scratch + "/preset.json";
  const Status written = builder::write_job(job, job_for(setting, preset.params));
  if (!written) return written;
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  const Result<builder::ScratchDirectory> cache = builder::ScratchDirectory::create();
  if (!cache) return cache.status();
  const Status ran = call_worker({"preset", job, timing.sizes, std::to_string(timing.rounds), output}, cache->path(),
                                 scratch + "/preset.log");
  if (!ran) return ran;
  return read_json(output);
}

Json preset_json(const Setting& setting, const kernels::Preset& preset, const Timing& timing,
                 const std::string& scratch) {
  Json json = {{"preset", preset.name}, {"origin", preset.origin},
               {"note", preset.note},   {"variant", kernels::name(preset.params)},
               {"skipped", Json()},     {"failed", Json()},
               {"rows", Json::array()}};
  const std::string broken = violation(preset.params, setting.device);
  if (!broken.empty()) {
    json["skipped"] = broken;
    return json;
  }
  const Result<Json> rows = measure(setting, preset, timing, scratch);
  if (rows) {
    json["rows"] = *rows;
  } else {
    json["failed"] = rows.status().message();
  }
  return json;
}

void print_row(const std::string& preset, const std::string& variant, int width, const Json& row) {
  const Size size{row["m"].get<std::size_t>(), row["n"].get<std::size_t>(), row["k"].get<std::size_t>()};
  const std::string error = row["max_error"].is_null() ? "not a number" : [&] {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", row["max_error"].get<double>());
    return std::string(text);
  }();
  std::printf("| %-18s | %-*s | %-16s | %9.1f | %-9s |%s\n", preset.c_str(), width, variant.c_str(), name(size).c_str(),
              row["gflops"].get<double>(), error.c_str(), row["ok"].get<bool>() ? "" : " WRONG");
}

void print_table(const Json& list, const Target& target, std::size_t rounds) {
  std::printf("%s; driver %s; medians over %s\n\n", target.device_name.c_str(), target.driver_version.c_str(),
              counted(rounds, "round").c_str());
  std::size_t longest = 0;
  for (const Json& json : list) longest = std::max(longest, json["variant"].get<std::string>().size());
  const int width = static_cast<int>(longest);
  std::printf("| %-18s | %-*s | %-16s | %9s | %-9s |\n", "preset", width, "variant", "m x n x k", "GFLOP/s", "error");
  std::printf("|%s|%s|%s|%s:|%s|\n", std::string(20, '-').c_str(), std::string(longest + 2, '-').c_str(),
              std::string(18, '-').c_str(), std::string(10, '-').c_str(), std::string(11, '-').c_str());
  for (const Json& json : list) {
    const auto preset = json["preset"].get<std::string>();
    const auto variant = json["variant"].get<std::string>();
    for (const Json& row : json["rows"]) print_row(preset, variant, width, row);
    for (const char* why : {"skipped", "failed"}) {
      if (json[why].is_null()) continue;
      std::printf("| %-18s | %-*s | %s: %s\n", preset.c_str(), width, variant.c_str(), why,
                  json[why].get<std::string>().c_str());
    }
  }
  std::printf("\n");
  for (const Json& json : list) {
    const auto note = json["note"].get<std::string>();
    if (!note.empty()) std::printf("%s: %s\n", json["preset"].get<std::string>().c_str(), note.c_str());
  }
}

// "tutorial-2, tutorial-3": the presets that failed or are wrong.
std::string wrong_presets(const Json& list) {
  std::string names;
  for (const Json& json : list) {
    bool right = json["failed"].is_null();
    for (const Json& row : json["rows"]) right = right && row["ok"].get<bool>();
    if (!right) names += (names.empty() ? "" : ", ") + json["preset"].get<std::string>();
  }
  return names;
}

}  // namespace

int bench_presets(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench presets FILE|DEVICE [OPTIONS]",
      "Measures published kernels, such as the steps of a tutorial, on one device: on a device of the bundle FILE,\n"
      "whose programs are then used, or on DEVICE, an index of 'clbake devices' or part of a name.");
  cli.add_device("; with FILE only");
  cli.add_value("preset", "LIST", "names of presets, separated by commas; default: all");
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default 1024");
  cli.add_value("rounds", "N", "turns of 0.1 s for each size; default 5");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const Timing timing{cli.text("sizes", "1024"), cli.size("rounds", 5, 1, 10000)};
  sizes_of(timing.sizes);  // or a UsageError, before anything runs
  const std::vector<kernels::Preset> presets = presets_named(split(cli.text("preset"), ','));
  const Result<Setting> setting = find_setting(cli.file(), cli.text("device"));
  if (!setting) return fail("bench presets", setting.status());
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench presets", scratch.status());

  ProgressBar bar;
  Json list = Json::array();
  for (const kernels::Preset& preset : presets) {
    list.push_back(preset_json(*setting, preset, timing, scratch->path()));
    bar.show(list.size(), presets.size(), preset.name);
  }
  bar.clear();
  if (cli.has("json")) {
    print({{"device", setting->device.target.device_name}, {"rounds", timing.rounds}, {"presets", list}});
  } else {
    print_table(list, setting->device.target, timing.rounds);
  }
  const std::string wrong = wrong_presets(list);
  return wrong.empty() ? kSuccess : fail("clbake bench presets: failed or wrong: " + wrong);
}

}  // namespace clbake::tool
