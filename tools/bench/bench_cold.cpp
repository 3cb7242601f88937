// `clbake bench cold`: time to the first correct result, by several ways to a program and by other libraries.
#include "bench/cold_worker.hpp"
#include "bench/peers/peers.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/device_lookup.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace clbake::tool {
namespace {

constexpr std::chrono::seconds kTimeout{180};

constexpr const char* kFigures[] = {"start_ms",        "platform_ms",     "context_ms", "load_ms",
                                    "first_launch_ms", "first_result_ms", "steady_ms"};
constexpr const char* kPeers[] = {"clblast", "openblas", "cublas"};

// One way to the first result, and the figures of its trials (cold_worker.hpp).
struct ColdRow {
  const char* path;   // its name in the JSON
  const char* label;  // for people
  ColdJob job;        // of its trials
  bool warm = false;  // keeps one driver cache for all trials
  std::vector<Json> trials = {};
};

std::string scratch_path(const builder::process::ScratchDirectory& scratch, const char* name) {
  return scratch.path() + "/" + name;
}

// Runs `clbake worker ARGUMENTS` with the driver's cache in the directory `cache`. Throws Failure with what happened to
// the child; after three minutes it is killed.
void call_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log,
                 const char* path) {
  builder::process::Command command{
      {os::path_of_program(), "worker"}, builder::process::driver_cache_environment(cache), log};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  for (auto& variable : builder::process::steady_environment()) command.environment.push_back(std::move(variable));
  const builder::process::Exit exit = need(builder::process::run(command, kTimeout, {}));
  if (!exit.ok()) throw Failure(std::string(path) + ": " + builder::process::describe(exit, command, kTimeout));
}

// One trial of a row in a new process.
void run_trial(ColdRow& row, const std::string& cache, const builder::process::ScratchDirectory& scratch) {
  const std::string output = scratch_path(scratch, "trial.json");
  call_worker(cold_arguments(row.job, output), cache, scratch_path(scratch, "trial.log"), row.path);
  std::ifstream file(os::native(output));
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) throw Failure(output + ": the worker wrote no result");
  const std::string origin = json.value("origin", "");  // peers report none
  if ((origin == "source") != (std::strncmp(row.path, "source", 6) == 0)) {
    throw Failure(std::string(row.path) + ": the program came from " + origin);
  }
  row.trials.push_back(std::move(json));
}

// The entry that the bundle uses for the timed product on this device.
builder::Job entry_in_use(const Bundle& bundle, std::uint32_t target, std::size_t size) {
  const Target wanted = need(bundle.target(target));
  const Problem problem = builder::tight_problem(Precision::single_precision, size, size, size);
  const std::vector<Choice> chosen = need(need(DeviceLookup::create({bundle}, wanted, false)).choose(problem));
  const cache::Variant variant = need(bundle.variant(chosen.front().variant));
  for (builder::Job& job : need(builder::jobs_of(bundle))) {
    if (job.variant.name == variant.name && job.target == wanted) return std::move(job);
  }
  throw Failure("the bundle has no entry for " + variant.name);
}

// clbake's own rows. Files that they need are written to `scratch`. The bundle's job, without a variant, is `job`.
std::vector<ColdRow> own_rows(const ColdJob& job, builder::Job used,
                              const builder::process::ScratchDirectory& scratch) {
  const std::string source = scratch_path(scratch, "source.clbake"), plain = scratch_path(scratch, "plain.clbake");
  used.entries.clear();
  need(builder::write_job(source, used));
  const builder::process::ScratchDirectory cache = need(builder::process::ScratchDirectory::create());
  call_worker({"compile-plain", source, plain}, cache.path(), scratch_path(scratch, "plain.log"), "plain");
  const std::string& variant = used.variant.name;
  return {{"source-cold", "source, cold", {source, "0", job.size, "", variant}},
          {"source-warm", "source, warm", {source, "0", job.size, "", variant}, true},
          {"plain", "plain binary", {plain, "0", job.size, "", variant}},
          {"bundle", "clbake bundle", job}};
}

// A row for each peer, two (cold and warm) for one that compiles. The order is always the same.
std::vector<ColdRow> peer_rows(const ColdJob& job, const std::vector<std::string>& peers) {
  const auto of = [&](const char* peer) { return ColdJob{job.bundle, job.target, job.size, peer, ""}; };
  std::vector<ColdRow> rows = {{"clblast-cold", "CLBlast, cold", of("clblast")},
                               {"clblast-warm", "CLBlast, warm", of("clblast"), true},
                               {"openblas", "OpenBLAS", of("openblas")},
                               {"cublas", "cuBLAS", of("cublas")}};
  const auto is_left_out = [&](const ColdRow& row) {
    return std::find(peers.begin(), peers.end(), row.job.peer) == peers.end();
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), is_left_out), rows.end());
  return rows;
}

// Runs every row within each trial, so that a slow moment of the machine meets all rows.
void run_trials(std::vector<ColdRow>& rows, std::size_t trials, const builder::process::ScratchDirectory& scratch) {
  const builder::process::ScratchDirectory kept = need(builder::process::ScratchDirectory::create());
  ProgressBar bar;
  for (const ColdRow& row : rows) {
    ColdRow priming = row;  // fills the driver's cache; its times are dropped
    if (row.warm) run_trial(priming, kept.path(), scratch);
  }
  for (std::size_t done = 0; done < trials * rows.size(); ++done) {
    ColdRow& row = rows[done % rows.size()];
    const builder::process::ScratchDirectory fresh = need(builder::process::ScratchDirectory::create());
    run_trial(row, row.warm ? kept.path() : fresh.path(), scratch);
    bar.show(done + 1, trials * rows.size(), row.label);
  }
}

// Adds the median of the trials, the fastest and the slowest.
void add_figure(const ColdRow& row, const std::string& name, Json& json) {
  std::vector<double> values;
  for (const Json& trial : row.trials) values.push_back(trial[name]);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  json[name] = builder::median(values);
  json[name + "_min"] = *min;
  json[name + "_max"] = *max;
}

// The bundle's row is there; the others are compared with it.
Json rows_json(const std::vector<ColdRow>& rows, bool jit_free) {
  Json list = Json::array();
  double bundle_ms = 0;
  for (const ColdRow& row : rows) {
    Json json = {{"path", row.path}, {"label", row.label}};
    for (const char* name : kFigures) add_figure(row, name, json);
    for (const char* name : {"origin", "variant"}) {
      if (row.trials.front().contains(name)) json[name] = row.trials.front()[name];
    }
    json["trials"] = row.trials.size();
    if (json["path"] == "bundle") {
      bundle_ms = json["first_result_ms"];
      json["jit_free"] = jit_free;  // as the bundle records
    }
    list.push_back(std::move(json));
  }
  for (Json& json : list) json["against_bundle"] = json["first_result_ms"].get<double>() / bundle_ms;
  return list;
}

void print_cold(const Json& report, std::size_t trials) {
  const std::string size = report["m"].dump();
  std::printf("First correct result of a %s x %s x %s product in single precision, from an existing context\n",
              size.c_str(), size.c_str(), size.c_str());
  std::printf("%s; driver %s; %s each, in new processes; medians in ms\n\n", cell_text(report["device"]).c_str(),
              cell_text(report["driver"]).c_str(), counted(trials, "trial").c_str());
  print_table({{"program from", "label"},
               {"start", "start_ms"},
               {"platform", "platform_ms"},
               {"context", "context_ms"},
               {"load", "load_ms"},
               {"first launch", "first_launch_ms"},
               {"first result", "first_result_ms"},
               {"fastest", "first_result_ms_min"},
               {"slowest", "first_result_ms_max"},
               {"steady", "steady_ms"},
               {"times the bundle's", "against_bundle"}},
              report["rows"]);
  std::printf(
      "\nstart: from spawn to main. first result: load and first launch. cold, warm: the driver's cache is empty, or\n"
      "filled by an earlier process. Other libraries compile inside their first launch and have no load.\n");
}

}  // namespace

int bench_cold(const std::vector<std::string>& arguments) {
  Cli cli("bench cold FILE [OPTIONS]",
          "Times the first correct result of a product, step by step in new processes: compiled from source\n"
          "with an empty and with a warm driver cache, from the driver's own binary, and from the bundle;\n"
          "beside other libraries.");
  cli.add_device();
  cli.add_list("peer", "LIST", "clblast, openblas, cublas, separated by commas; default: none");
  cli.add_value("trials", "N", "processes for each row; default 7");
  cli.add_value("size", "N", "m = n = k of the product; default 512");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t trials = cli.size("trials", 7, 1, 10000);
  const std::size_t size = cli.size("size", 512, 1, 16384);
  const std::vector<std::string> peers = cli.list("peer");
  for (const std::string& peer : peers) number_of("peer", peer, kPeers);
  for (const std::string& peer : peers) make_peer(peer);  // fails at once where the library is missing

  const std::string file = cli.file();
  const Bundle bundle = open_verified(file);
  const Target target = device_for(bundle, cli.text("device")).target;
  const std::uint32_t index = need(bundle.find_target(target), file);
  const ColdJob job = {file, std::to_string(index), std::to_string(size), "", ""};
  const builder::Job used = entry_in_use(bundle, index, size);
  const builder::process::ScratchDirectory scratch = need(builder::process::ScratchDirectory::create());
  std::vector<ColdRow> rows = own_rows(job, used, scratch);
  for (ColdRow& row : peer_rows(job, peers)) rows.push_back(std::move(row));
  run_trials(rows, trials, scratch);
  const Json report = {{"device", target.device_name},
                       {"driver", target.driver_version},
                       {"m", size},
                       {"n", size},
                       {"k", size},
                       {"precision", "single"},
                       {"rows", rows_json(rows, used.entries.front().proof.jit_free)}};
  cli.has("json") ? print(report) : print_cold(report, trials);
  return kSuccess;
}

}  // namespace clbake::tool
