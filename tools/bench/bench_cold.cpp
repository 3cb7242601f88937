// `clbake bench cold`: time to the first correct result, by several ways to a program and by other libraries.
#include "bench/peers/peers.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "cli/worker_call.hpp"
#include "command/verbs.hpp"
#include "report/cold_report.hpp"
#include "report/measurements.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/device_lookup.hpp>

#include <algorithm>
#include <chrono>

namespace clbake::tool {
namespace {

// The arguments of a worker: its verb, its ColdJob, and more. The process starts right after.
std::vector<std::string> worker_arguments(const std::string& verb, const std::string& bundle, const std::string& target,
                                          std::size_t size, const std::string& output,
                                          const std::vector<std::string>& more) {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  std::vector<std::string> all = {verb, std::to_string(now.count()), bundle, target, std::to_string(size), output};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// One trial of a row in a new process.
Status run_trial(ColdRow& row, std::size_t size, const std::string& cache, const std::string& scratch) {
  const std::string output = scratch + "/trial.json";
  const Status ran = call_worker(worker_arguments(row.verb, row.bundle, row.target, size, output, row.more), cache,
                                 scratch + "/trial.log");
  if (!ran) return ran.within(row.path);
  Result<Json> json = read_json(output);
  if (!json) return json.status();
  const std::string origin = json->value("origin", "");  // peers report none
  if ((origin == "source") != row.compiles) {
    return {Code::opencl, std::string(row.path) + ": the program came from " + origin};
  }
  row.trials.push_back(std::move(*json));
  return {};
}

// The entry that the bundle uses for the timed product on this device.
Result<builder::Job> entry_in_use(const Bundle& bundle, std::uint32_t target, std::size_t size) {
  const Result<Target> wanted = bundle.target(target);
  if (!wanted) return wanted.status();
  const Problem problem = builder::tight_problem(Precision::single_precision, size, size, size);
  const Result<DeviceLookup> lookup = DeviceLookup::create({bundle}, *wanted, false);
  if (!lookup) return lookup.status();
  const Result<std::vector<Choice>> chosen = lookup->choose(problem);
  if (!chosen) return chosen.status();
  const Result<cache::Variant> variant = bundle.variant(chosen->front().variant);
  if (!variant) return variant.status();
  Result<std::vector<builder::Job>> jobs = builder::jobs_of(bundle);
  if (!jobs) return jobs.status();
  for (builder::Job& job : *jobs) {
    if (job.variant.name == variant->name && job.target == *wanted) return std::move(job);
  }
  return {Code::no_entry, "the bundle has no entry for " + variant->name};
}

// clbake's own rows. Files that they need are written to `scratch`.
Result<std::vector<ColdRow>> own_rows(const std::string& file, const Bundle& bundle, std::uint32_t target,
                                      std::size_t size, const std::string& scratch) {
  Result<builder::Job> job = entry_in_use(bundle, target, size);
  if (!job) return job.status();
  const std::string variant = job->variant.name;
  const std::string source = scratch + "/source.clbake";
  const std::string plain = scratch + "/plain.clbake";
  const bool jit_free = job->entries.front().proof.jit_free;
  job->entries.clear();
  const Status written = builder::write_job(source, *job);
  if (!written) return written;
  const Result<builder::ScratchDirectory> cache = builder::ScratchDirectory::create();
  if (!cache) return cache.status();
  const Status compiled = call_worker({"compile-plain", source, plain}, cache->path(), scratch + "/plain.log");
  if (!compiled) return compiled.within("plain");
  return std::vector<ColdRow>{
      {"source-cold", "source, cold", "cold", {variant}, source, "0", false, true, {}, {}},
      {"source-warm", "source, warm", "cold", {variant}, source, "0", true, true, {}, {}},
      {"plain", "plain binary", "cold", {variant}, plain, "0", false, false, {}, {}},
      {"bundle", "clbake bundle", "cold", {""}, file, std::to_string(target), false, false, jit_free, {}},
  };
}

// A row for each peer that was asked for, two (cold and warm) for one that compiles. The order is always the same.
std::vector<ColdRow> peer_rows(const std::vector<std::string>& peers, const std::string& file, std::uint32_t target,
                               std::uint32_t threads) {
  const auto row = [&](const char* path, const char* label, const char* peer, bool warm) {
    return ColdRow{path,  label, "cold-peer", {peer, std::to_string(threads)}, file, std::to_string(target), warm,
                   false, {},    {}};
  };
  const auto asked = [&](const char* peer) { return std::find(peers.begin(), peers.end(), peer) != peers.end(); };
  std::vector<ColdRow> rows;
  if (asked("clblast")) {
    rows.push_back(row("clblast-cold", "CLBlast, cold", "clblast", false));
    rows.push_back(row("clblast-warm", "CLBlast, warm", "clblast", true));
  }
  if (asked("openblas")) rows.push_back(row("openblas", "OpenBLAS", "openblas", false));
  if (asked("cublas")) rows.push_back(row("cublas", "cuBLAS", "cublas", false));
  return rows;
}

// The peers that --peer names.
std::vector<std::string> peers_of(const std::string& given) {
  const std::vector<std::string> peers = split(given, ',');
  if (peers.empty()) throw UsageError("--peer: '" + given + "' names nothing");
  for (const std::string& peer : peers) {
    if (peer != "clblast" && peer != "openblas" && peer != "cublas") {
      throw UsageError("--peer: '" + peer + "' is none of clblast, openblas and cublas");
    }
  }
  return peers;
}

// Called before anything is measured, so that a missing library is reported at once.
Status check_installed(const std::vector<std::string>& peers, std::uint32_t threads) {
  for (const std::string& name : peers) {
    const Result<std::unique_ptr<Peer>> peer = make_peer(name, threads);
    if (!peer) return peer.status().within("--peer");
  }
  return {};
}

// Runs every row within each trial, so that a slow moment of the machine meets all rows.
Status run_trials(ColdReport& report, std::size_t trials, const std::string& scratch) {
  Result<builder::ScratchDirectory> kept = builder::ScratchDirectory::create();
  if (!kept) return kept.status();
  ProgressBar bar;
  std::size_t done = 0;
  for (const ColdRow& row : report.rows) {
    if (!row.warm) continue;
    ColdRow priming = row;  // fills the driver's cache; its times are dropped
    const Status primed = run_trial(priming, report.size, kept->path(), scratch);
    if (!primed) return primed;
  }
  const std::size_t total = trials * report.rows.size();
  for (std::size_t t = 0; t < trials; ++t) {
    for (ColdRow& row : report.rows) {
      const Result<builder::ScratchDirectory> fresh = builder::ScratchDirectory::create();
      if (!fresh) return fresh.status();
      const Status ran = run_trial(row, report.size, row.warm ? kept->path() : fresh->path(), scratch);
      if (!ran) return ran;
      bar.show(++done, total, row.label);
    }
  }
  return {};
}

// Measures all rows of a bundle's report.
Status measure(ColdReport& report, Target& target, const Cli& cli, const std::vector<std::string>& peers,
               std::size_t trials) {
  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return bundle.status();
  const Result<builder::Device> device = device_for(*bundle, cli.text("device"));
  if (!device) return device.status();
  target = device->target;
  const Result<std::uint32_t> index = bundle->find_target(target);
  if (!index) return index.status().within(cli.file());
  const Status installed = check_installed(peers, device->compute_units);
  if (!installed) return installed;
  const Result<builder::ScratchDirectory> scratch = builder::ScratchDirectory::create();
  if (!scratch) return scratch.status();
  Result<std::vector<ColdRow>> rows = own_rows(cli.file(), *bundle, *index, report.size, scratch->path());
  if (!rows) return rows.status();
  report.rows = std::move(*rows);
  for (ColdRow& row : peer_rows(peers, cli.file(), *index, device->compute_units)) {
    report.rows.push_back(std::move(row));
  }
  return run_trials(report, trials, scratch->path());
}

}  // namespace

int bench_cold(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench cold FILE [OPTIONS]",
      "Times the first correct result of a product, step by step in new processes: compiled from source with an empty\n"
      "and with a warm driver cache, from the driver's own binary, and from the bundle; beside other libraries.");
  cli.add_device();
  cli.add_value("peer", "LIST", "clblast, openblas, cublas, separated by commas; default: none");
  cli.add_value("trials", "N", "processes for each row; default 7");
  cli.add_value("size", "N", "m = n = k of the product; default 512");
  add_measurement_options(cli);
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t trials = cli.size("trials", 7, 1, 10000);
  const std::vector<std::string> peers = cli.has("peer") ? peers_of(cli.text("peer")) : std::vector<std::string>();
  ColdReport report;
  report.size = cli.size("size", 512, 1, 16384);

  Target target;
  Status done = check_cold_csv(cli);
  if (done) done = measure(report, target, cli, peers, trials);
  if (done) done = append_cold(cli, arguments, report, target);
  if (!done) return fail("bench cold", done);
  cli.has("json") ? print(to_json(report, target)) : print_text(report, target);
  return kSuccess;
}

}  // namespace clbake::tool
