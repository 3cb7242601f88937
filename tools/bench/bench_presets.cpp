// `clbake bench presets`: kernels that others have published, measured on this device.
#include "bench/race.hpp"
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

namespace po = boost::program_options;

constexpr const char* kDefaultSizes = "1024";

// Where to measure, and what need not be compiled for it.
struct Ground {
  builder::Device device;
  std::vector<builder::Job> baked;  // of this device
};

Result<Ground> ground_of_bundle(const std::string& file, const std::string& spec) {
  const Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  const Result<builder::Device> device = device_for(*bundle, spec);
  if (!device) return device.status();
  Result<std::vector<builder::Job>> jobs = builder::jobs_of(*bundle);
  if (!jobs) return jobs.status().within(file);
  Ground ground{*device, {}};
  for (builder::Job& job : *jobs) {
    if (job.target == device->target) ground.baked.push_back(std::move(job));
  }
  return ground;
}

Result<Ground> find_ground(const std::string& file_or_device, const std::string& spec) {
  std::error_code error;
  if (std::filesystem::exists(file_or_device, error)) return ground_of_bundle(file_or_device, spec);
  const Result<std::vector<builder::Device>> all = builder::list_devices();
  if (!all) return all.status();
  const Result<std::vector<builder::Device>> selected = builder::select_one_target(*all, file_or_device);
  if (!selected) return Status(selected.status().code(), "no such file, and " + selected.status().message());
  return Ground{selected->front(), {}};
}

// From the bundle where it is baked and still what this version generates, else from source.
builder::Job job_for(const Ground& ground, const kernels::Params& params) {
  builder::Job job = builder::make_job(ground.device.target, kernels::generate(params), params);
  for (const builder::Job& baked : ground.baked) {
    if (builder::same_work(baked, job)) return baked;
  }
  return job;
}

struct Settings {
  std::string sizes;
  std::size_t rounds = 5;
};

// The figures of one preset, measured in a child: a driver that crashes costs a line of the table.
Result<Json> measure(const Ground& ground, const kernels::Preset& preset, const Settings& settings,
                     const std::string& scratch) {
  const std::string job = scratch + "/preset.job";
  const std::string output = scratch + "/preset.json";
  const Status written = builder::write_job(job, job_for(ground, preset.params));
  if (!written) return written;
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  const Result<builder::ScratchDirectory> cache = builder::ScratchDirectory::create();
  if (!cache) return cache.status();
  const Status ran = call_worker({"preset", job, settings.sizes, std::to_string(settings.rounds), output},
                                 cache->path(), scratch + "/preset.log");
  if (!ran) return ran;
  return read_json(output);
}

Json preset_json(const Ground& ground, const kernels::Preset& preset, const Settings& settings,
                 const std::string& scratch) {
  Json json = {{"preset", preset.name}, {"origin", preset.origin},
               {"note", preset.note},   {"variant", kernels::name(preset.params)},
               {"skipped", Json()},     {"failed", Json()},
               {"rows", Json::array()}};
  const std::string broken = violation(preset.params, ground.device);
  if (!broken.empty()) {
    json["skipped"] = broken;
    return json;
  }
  const Result<Json> rows = measure(ground, preset, settings, scratch);
  if (rows) {
    json["rows"] = *rows;
  } else {
    json["failed"] = rows.status().message();
  }
  return json;
}

void print_row(const std::string& preset, const std::string& variant, int width, const Json& row) {
  const Size size{row["m"].get<std::size_t>(), row["n"].get<std::size_t>(), row["k"].get<std::size_t>()};
  const std::string error = row["max_error"].is_null() ? "no number" : [&] {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", row["max_error"].get<double>());
    return std::string(text);
  }();
  std::printf("| %-18s | %-*s | %-16s | %9.1f | %-9s |%s\n", preset.c_str(), width, variant.c_str(), name(size).c_str(),
              row["gflops"].get<double>(), error.c_str(), row["ok"].get<bool>() ? "" : " WRONG");
}

void print_table(const Json& list, const Target& target, std::size_t rounds) {
  std::printf("%s; driver %s; medians over %zu rounds\n\n", target.device_name.c_str(), target.driver_version.c_str(),
              rounds);
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

// Those that failed or are wrong, "tutorial-2, tutorial-3".
std::string not_right(const Json& list) {
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
  Cli cli("bench presets FILE|DEVICE [OPTIONS]",
          "Measures known kernels, step by step as their tutorial made them faster, on one device: that of the bundle\n"
          "FILE, whose variants are then used, or DEVICE, an index of 'clbake devices' or part of a name.");
  cli.options()("device", po::value<std::string>(), "with FILE: which of its devices, as an index or part of a name");
  cli.options()("preset", po::value<std::string>(), "names, separated by commas; default: all of them");
  cli.options()("sizes", po::value<std::string>(), "N or MxNxK, separated by commas; default 1024");
  cli.options()("rounds", po::value<std::string>(), "default 5");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const Settings settings{cli.has("sizes") ? cli.text("sizes") : kDefaultSizes, cli.size("rounds", 5, 1, 10000)};
  sizes_of(settings.sizes);  // or a UsageError, before anything runs
  const std::vector<kernels::Preset> presets = presets_named(split(cli.text("preset"), ','));
  const Result<Ground> ground = find_ground(cli.file(), cli.text("device"));
  if (!ground) return fail("bench presets", ground.status());
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench presets", scratch.status());

  ProgressBar bar;
  Json list = Json::array();
  for (const kernels::Preset& preset : presets) {
    list.push_back(preset_json(*ground, preset, settings, scratch->path()));
    bar.show(list.size(), presets.size(), preset.name);
  }
  bar.clear();
  if (cli.has("json")) {
    print({{"device", ground->device.target.device_name}, {"rounds", settings.rounds}, {"presets", list}});
  } else {
    print_table(list, ground->device.target, settings.rounds);
  }
  const std::string wrong = not_right(list);
  return wrong.empty() ? kSuccess : fail("clbake bench presets: failed or wrong: " + wrong);
}

}  // namespace clbake::tool
