// `clbake bench cold`: how long from an existing context to the first correct result, by four ways to a program.
#include "cli.hpp"
#include "cold_trial.hpp"
#include "json.hpp"
#include "progress_bar.hpp"
#include "verbs.hpp"
#include "worker_call.hpp"

#include <clbake/builder/jobs.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

struct Row {
  const char* path;   // its name in the JSON
  const char* label;  // for people
  std::string bundle;
  std::string target;
  std::string variant;
  bool warm;           // keeps one driver cache for all trials
  const char* origin;  // where the program has to come from
  std::vector<double> first_result_ms;
  std::vector<double> first_launch_ms;
  std::vector<double> steady_ms;
};

Status run_trial(Row& row, const std::string& cache, const std::string& scratch) {
  const std::string output = scratch + "/trial.json";
  const Status ran = call_worker({"cold", row.bundle, row.target, row.variant, output}, cache, scratch + "/trial.log");
  if (!ran) return ran.within(row.path);
  const Result<Json> json = read_json(output);
  if (!json) return json.status();
  if ((*json)["origin"] != row.origin) {
    return {Code::opencl, std::string(row.path) + ": the program came from " + (*json)["origin"].get<std::string>() +
                              " instead of " + row.origin};
  }
  row.first_result_ms.push_back((*json)["first_result_ms"]);
  row.first_launch_ms.push_back((*json)["first_launch_ms"]);
  row.steady_ms.push_back((*json)["steady_ms"]);
  return {};
}

// The entry that the bundle uses for the timed product on this device.
Result<builder::Job> entry_in_use(const Bundle& bundle, std::uint32_t target) {
  const Result<cache::Profile> profile = bundle.find_profile(target);
  if (!profile) return profile.status();
  const auto in_range = [](std::uint32_t low, std::uint32_t high) { return low <= kColdSize && kColdSize <= high; };
  const auto rule = std::find_if(profile->rules.begin(), profile->rules.end(), [&](const cache::Rule& r) {
    return r.precision == Precision::single_precision && !r.trans_a && !r.trans_b && in_range(r.m_min, r.m_max) &&
           in_range(r.n_min, r.n_max) && in_range(r.k_min, r.k_max);
  });
  if (rule == profile->rules.end())
    return {Code::no_variant, "the bundle has no single-precision variant for this device"};
  const Result<cache::Variant> variant = bundle.variant(rule->variant);
  if (!variant) return variant.status();
  const Result<Target> wanted = bundle.target(target);
  if (!wanted) return wanted.status();
  Result<std::vector<builder::Job>> jobs = builder::jobs_of(bundle);
  if (!jobs) return jobs.status();
  for (builder::Job& job : *jobs) {
    if (job.variant.name == variant->name && job.target == *wanted) return std::move(job);
  }
  return {Code::no_entry, "the bundle has no entry of " + variant->name};
}

// The four rows; the files they need are made in `scratch`.
Result<std::vector<Row>> make_rows(const std::string& file, const Bundle& bundle, std::uint32_t target,
                                   const std::string& scratch) {
  Result<builder::Job> job = entry_in_use(bundle, target);
  if (!job) return job.status();
  const std::string variant = job->variant.name;
  const std::string source = scratch + "/source.clbake";
  const std::string plain = scratch + "/plain.clbake";
  job->entry.clear();
  const Status written = builder::write_job(source, *job);
  if (!written) return written;
  const Result<builder::ScratchDirectory> cache = builder::ScratchDirectory::create();
  if (!cache) return cache.status();
  const Status compiled = call_worker({"compile-plain", source, plain}, cache->path(), scratch + "/plain.log");
  if (!compiled) return compiled.within("plain");
  return std::vector<Row>{
      {"source-cold", "source, empty driver cache", source, "0", variant, false, "source", {}, {}, {}},
      {"source-warm", "source, driver's warm cache", source, "0", variant, true, "source", {}, {}, {}},
      {"plain", "plain binary", plain, "0", variant, false, "bundle", {}, {}, {}},
      {"bundle", "clbake bundle", file, std::to_string(target), "", false, "bundle", {}, {}, {}},
  };
}

Json to_json(const std::vector<Row>& rows, const Target& target, std::size_t trials) {
  Json list = Json::array();
  for (const Row& row : rows) {
    const auto [low, high] = std::minmax_element(row.first_result_ms.begin(), row.first_result_ms.end());
    list.push_back({{"path", row.path},
                    {"first_result_ms", builder::median(row.first_result_ms)},
                    {"first_result_ms_min", *low},
                    {"first_result_ms_max", *high},
                    {"first_launch_ms", builder::median(row.first_launch_ms)},
                    {"steady_ms", builder::median(row.steady_ms)},
                    {"trials", trials},
                    {"device", target.device_name}});
  }
  return {{"m", kColdSize}, {"n", kColdSize}, {"k", kColdSize}, {"precision", "single"}, {"rows", list}};
}

void print_table(const std::vector<Row>& rows, const Target& target, std::size_t trials) {
  std::printf("First correct result of a %zu x %zu x %zu product in single precision, from an existing context\n",
              kColdSize, kColdSize, kColdSize);
  std::printf("%s; driver %s; %zu trials each, in fresh processes; medians in ms\n\n", target.device_name.c_str(),
              target.driver_version.c_str(), trials);
  std::printf("| %-27s | %12s | %12s | %11s | %16s |\n", "program from", "first result", "first launch", "steady",
              "against bundle");
  std::printf("|%s|%s:|%s:|%s:|%s:|\n", std::string(29, '-').c_str(), std::string(13, '-').c_str(),
              std::string(13, '-').c_str(), std::string(12, '-').c_str(), std::string(17, '-').c_str());
  const double bundle = builder::median(rows.back().first_result_ms);
  for (const Row& row : rows) {
    const double first = builder::median(row.first_result_ms);
    std::printf("| %-27s | %12.2f | %12.2f | %11.2f | %14.1f x |\n", row.label, first,
                builder::median(row.first_launch_ms), builder::median(row.steady_ms), first / bundle);
  }
}

// Path after path within each trial, so that a slow moment of the machine meets all of them.
Status run_trials(std::vector<Row>& rows, std::size_t trials, const std::string& scratch) {
  Result<builder::ScratchDirectory> kept = builder::ScratchDirectory::create();
  if (!kept) return kept.status();
  ProgressBar bar;
  std::size_t done = 0;
  for (Row& row : rows) {
    if (!row.warm) continue;
    Row priming = row;  // fills the driver's cache; not counted
    const Status primed = run_trial(priming, kept->path(), scratch);
    if (!primed) return primed;
  }
  for (std::size_t t = 0; t < trials; ++t) {
    for (Row& row : rows) {
      const Result<builder::ScratchDirectory> fresh = builder::ScratchDirectory::create();
      if (!fresh) return fresh.status();
      const Status ran = run_trial(row, row.warm ? kept->path() : fresh->path(), scratch);
      if (!ran) return ran;
      bar.show(++done, trials * rows.size(), row.label);
    }
  }
  return {};
}

}  // namespace

int bench_cold(const std::vector<std::string>& arguments) {
  namespace po = boost::program_options;
  Cli cli("bench cold FILE [OPTIONS]",
          "Times the first correct result of a product from an existing context: compiled from source with an empty\n"
          "and with the driver's warm cache, from the binary as the driver gives it, and from the bundle.");
  cli.options()("device", po::value<std::string>(), "SPEC: an index of 'clbake devices', or part of a name");
  cli.options()("trials", po::value<std::string>(), "processes for each row; default 5");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t trials = cli.size("trials", 5, 1, 10000);

  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return fail("bench cold", bundle.status());
  const Result<builder::Device> device = device_for(*bundle, cli.text("device"));
  if (!device) return fail("bench cold", device.status());
  const Result<std::uint32_t> target = bundle->find_target(device->target);
  if (!target) return fail("bench cold", target.status().within(cli.file()));
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return fail("bench cold", scratch.status());
  Result<std::vector<Row>> rows = make_rows(cli.file(), *bundle, *target, scratch->path());
  if (!rows) return fail("bench cold", rows.status());
  const Status ran = run_trials(*rows, trials, scratch->path());
  if (!ran) return fail("bench cold", ran);
  if (cli.has("json")) {
    print(to_json(*rows, device->target, trials));
  } else {
    print_table(*rows, device->target, trials);
  }
  return kSuccess;
}

}  // namespace clbake::tool
