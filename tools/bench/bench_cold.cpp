// `clbake bench cold`: time to the first correct result, by several ways to a program and by other libraries.
#include "bench/peers/peers.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"
#include "report/cold_report.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/builder/process.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/device_lookup.hpp>

#include <algorithm>
#include <fstream>

namespace clbake::tool {
namespace {

constexpr std::chrono::seconds kTimeout{180};

std::string scratch_path(const builder::process::ScratchDirectory& scratch, const char* name) {
  return scratch.path() + "/" + name;
}

// Runs `clbake worker ARGUMENTS` with the driver's cache in the directory `cache`. Throws Failure with what happened to
// the child; after three minutes it is killed.
void call_worker(const std::vector<std::string>& arguments, const std::string& cache, const std::string& log,
                 const char* path) {
  builder::process::Command command{
      {builder::process::own_path(), "worker"}, builder::process::driver_cache_environment(cache), log};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  for (auto& variable : builder::process::steady_environment()) command.environment.push_back(std::move(variable));
  std::vector<builder::process::Command> commands = {command};
  const std::atomic<bool> never{false};
  need(builder::process::run_all(commands, 1, kTimeout, never, [&](std::size_t, const builder::process::Exit& exit) {
    if (!exit.ok()) throw Failure(std::string(path) + ": " + builder::process::describe(exit, command, kTimeout));
  }));
}

// One trial of a row in a new process.
void run_trial(ColdRow& row, const std::string& cache, const builder::process::ScratchDirectory& scratch) {
  const std::string output = scratch_path(scratch, "trial.json");
  call_worker(cold_arguments(row.job, output), cache, scratch_path(scratch, "trial.log"), row.path);
  std::ifstream file(output);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) throw Failure(output + ": the worker wrote no result");
  const std::string origin = json.value("origin", "");  // peers report none
  if ((origin == "source") != row.compiles) {
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

// clbake's own rows. Files that they need are written to `scratch`.
std::vector<ColdRow> own_rows(const std::string& file, const Bundle& bundle, std::uint32_t target, std::size_t size,
                              const builder::process::ScratchDirectory& scratch) {
  builder::Job job = entry_in_use(bundle, target, size);
  const std::string variant = job.variant.name, n = std::to_string(size);
  const std::string source = scratch_path(scratch, "source.clbake"), plain = scratch_path(scratch, "plain.clbake");
  const bool jit_free = job.entries.front().proof.jit_free;
  job.entries.clear();
  need(builder::write_job(source, job));
  const builder::process::ScratchDirectory cache = need(builder::process::ScratchDirectory::create());
  call_worker({"compile-plain", source, plain}, cache.path(), scratch_path(scratch, "plain.log"), "plain");
  return {{"source-cold", "source, cold", {source, "0", n, "", variant}, false, true, {}, {}},
          {"source-warm", "source, warm", {source, "0", n, "", variant}, true, true, {}, {}},
          {"plain", "plain binary", {plain, "0", n, "", variant}, false, false, {}, {}},
          {"bundle", "clbake bundle", {file, std::to_string(target), n, "", ""}, false, false, jit_free, {}}};
}

// A row for each peer, two (cold and warm) for one that compiles. The order is always the same.
struct PeerRow {
  const char* peer;
  const char* path;
  const char* label;
  bool warm;
};
constexpr PeerRow kPeerRows[] = {{"clblast", "clblast-cold", "CLBlast, cold", false},
                                 {"clblast", "clblast-warm", "CLBlast, warm", true},
                                 {"openblas", "openblas", "OpenBLAS", false},
                                 {"cublas", "cublas", "cuBLAS", false}};

// The rows of the peers that --peer names, but for the job's bundle and size. Fails at once for a missing library.
std::vector<ColdRow> peer_rows(const Cli& cli) {
  const std::vector<std::string> peers = cli.list("peer");
  for (const std::string& peer : peers) {
    const auto is_its = [&](const PeerRow& row) { return peer == row.peer; };
    if (std::none_of(std::begin(kPeerRows), std::end(kPeerRows), is_its)) {
      throw UsageError("--peer: '" + peer + "' is none of clblast, openblas and cublas");
    }
  }
  for (const std::string& peer : peers) make_peer(peer);
  std::vector<ColdRow> rows;
  for (const PeerRow& row : kPeerRows) {
    if (std::find(peers.begin(), peers.end(), row.peer) == peers.end()) continue;
    rows.push_back({row.path, row.label, {"", "", "", row.peer, ""}, row.warm, false, {}, {}});
  }
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

}  // namespace

int bench_cold(const std::vector<std::string>& arguments) {
  Cli cli(
      "bench cold FILE [OPTIONS]",
      "Times the first correct result of a product, step by step in new processes: compiled from source with an empty\n"
      "and with a warm driver cache, from the driver's own binary, and from the bundle; beside other libraries.");
  cli.add_device();
  cli.add_list("peer", "LIST", "clblast, openblas, cublas, separated by commas; default: none");
  cli.add_value("trials", "N", "processes for each row; default 7");
  cli.add_value("size", "N", "m = n = k of the product; default 512");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t trials = cli.size("trials", 7, 1, 10000);
  const std::vector<ColdRow> peers = peer_rows(cli);
  ColdReport report;
  report.size = cli.size("size", 512, 1, 16384);

  const std::string file = cli.file();
  const Bundle bundle = need(open_verified(file));
  const Target target = need(device_for(bundle, cli.text("device"))).target;
  const std::uint32_t index = need(bundle.find_target(target), file);
  const builder::process::ScratchDirectory scratch = need(builder::process::ScratchDirectory::create());
  report.rows = own_rows(file, bundle, index, report.size, scratch);
  for (ColdRow row : peers) {
    row.job = {file, std::to_string(index), std::to_string(report.size), row.job.peer, ""};
    report.rows.push_back(std::move(row));
  }
  run_trials(report.rows, trials, scratch);
  cli.has("json") ? print(to_json(report, target)) : print_text(report, target);
  return kSuccess;
}

}  // namespace clbake::tool
