// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "bench/alternate.hpp"
#include "bench/bench_device.hpp"
#include "bench/peers/peers.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "cli/variants.hpp"
#include "command/verbs.hpp"
#include "report/gemm_report.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

namespace clbake::tool {
namespace {

using Peers = std::vector<std::unique_ptr<Peer>>;

// A bundle ready to serve from what was baked: nothing is compiled from source.
struct Served {
  std::string name;  // of the file, for the table and messages
  Bundle bundle;
  Library library;
};

Result<Served> serve(const BenchDevice& on, const Bundle& bundle, const std::string& file) {
  Options baked_only;
  baked_only.on_miss = OnMiss::fail;
  Result<Library> library = open_library(on, bundle, baked_only);
  if (!library) return library.status();
  return Served{std::filesystem::path(file).filename().string(), bundle, std::move(*library)};
}

// What a variant's program for the target was made of; empty if the bundle has none for exactly this target.
std::string build_of(const Bundle& bundle, const Target& target, const std::string& name) {
  const Result<std::uint32_t> at = bundle.find_target(target);
  for (std::uint32_t i = 0; at && i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->name != name) continue;
    const Result<cache::EntryInfo> entry = bundle.find_entry(*at, i);
    const Result<cache::Source> source = bundle.source(variant->source);
    if (!entry || !source) return "";
    std::string build = source->text + '\n' + variant->build_options;
    for (const cache::Tool& tool : entry->proof.tools) build += '\n' + tool.name + ' ' + tool.version;
    return build;
  }
  return "";
}

// What was not baked is left out; any other failure ends the benchmark.
bool is_missing(const Status& status) {
  const Code code = status.code();
  return code == Code::no_target || code == Code::other_driver || code == Code::no_variant || code == Code::no_entry;
}

class GemmBench {
 public:
  GemmBench(const BenchDevice& on, std::vector<Served> bundles, Peers peers, std::string variant, std::size_t rounds)
      : on_(on), bundles_(std::move(bundles)), peers_(std::move(peers)), variant_(std::move(variant)) {
    report.target = on.device.target;
    report.rounds = rounds;
  }

  // Adds a row for each peer, or one without a peer.
  Status measure(const Problem& problem) {
    Status status = prepare(problem);
    if (!status || entrants_.empty()) return status;
    builder::GemmRunOptions options;
    options.check_limit = builder::kPatientCheck;
    Result<builder::GemmRun> gemm_run = builder::GemmRun::create(on_.session, on_.device, problem, options);
    if (!gemm_run) return gemm_run.status();
    std::vector<TimedCall> calls;
    for (Entrant& entrant : entrants_) {
      status = check(*gemm_run, entrant);
      if (!status) return status;
      calls.push_back({[&gemm_run, &entrant] { return gemm_run->time(entrant.gemm).status(); }, {}});
    }
    std::vector<Peer*> peers;
    for (const std::unique_ptr<Peer>& peer : peers_) {
      if (!peer->has(problem.precision)) {
        note_missing(peer->name(), clbake::name(problem.precision), "not in this library's interface");
        continue;
      }
      status = peer->set(problem);
      if (status.code() == Code::not_found) {
        const std::string size = clbake::tool::name(Size{problem.m, problem.n, problem.k});
        note_missing(peer->name(), builder::kind_name(problem) + ' ' + size, status.message());
        continue;
      }
      if (status) status = check_peer(*peer, problem);
      if (!status) return status;
      peers.push_back(peer.get());
      calls.push_back({[&peer] { return peer->run(); }, {}});
    }
    status = time_alternately(calls, report.rounds);
    if (status) add_rows(problem, calls, peers);
    return status;
  }

  GemmReport report;
  bool lacks_kinds = false;  // of a bundle: some problems were left out

 private:
  // A bundle's kernels for the problem.
  struct Entrant {
    std::string bundle;
    Gemm gemm;
    double error;
  };

  // The entrants: none when one of the bundles lacks the problem.
  Status prepare(const Problem& problem) {
    entrants_.clear();
    for (const Served& bundle : bundles_) {
      Result<Gemm> gemm = bundle.library.prepare(problem, entrants_.empty() ? variant_ : std::string());
      if (gemm) {
        entrants_.push_back({bundle.name, std::move(*gemm), 0});
        continue;
      }
      entrants_.clear();
      if (!is_missing(gemm.status())) return gemm.status().within(bundle.name);
      note_missing(bundle.name, builder::kind_name(problem), gemm.status().message());
      lacks_kinds = true;
      return {};
    }
    return {};
  }

  // Once for each part: other sizes lack it for the same reason.
  void note_missing(const std::string& name, const std::string& part, const std::string& cause) {
    if (noted_.insert(name + part).second) report.missing.push_back(name + ": " + part + ": " + cause);
  }

  static Status check(builder::GemmRun& gemm_run, Entrant& entrant) {
    Status status = gemm_run.reset();
    if (status) status = gemm_run.run(entrant.gemm).status();
    if (!status) return status.within(entrant.bundle);
    const Result<builder::Check> check = gemm_run.check();
    if (!check) return check.status();
    entrant.error = check->max_error;
    if (check->ok()) return {};
    return {Code::wrong_result, entrant.bundle + ": wrong result of " + entrant.gemm.explanation().variant};
  }

  // A library that computes something else is no peer. Its products in other precisions and batches are not checked.
  static Status check_peer(Peer& peer, const Problem& problem) {
    if (problem.precision != Precision::single_precision || problem.batch > 1 || !peer.computes()) return {};
    const Status ran = peer.run();
    return ran ? check_single(peer, problem) : ran;
  }

  // `calls`: of the entrants, then of the peers.
  void add_rows(const Problem& problem, const std::vector<TimedCall>& calls, const std::vector<Peer*>& peers) {
    GemmRow row;
    row.problem = problem;
    row.variant = entrants_[0].gemm.explanation().variant;
    row.us = builder::median(calls[0].us);
    row.error = entrants_[0].error;
    if (calls.size() == 1) report.rows.push_back(row);
    for (std::size_t i = 1; i < calls.size(); ++i) {
      const bool is_bundle = i < entrants_.size();
      row.peer = is_bundle ? entrants_[i].bundle : peers[i - entrants_.size()]->name();
      row.peer_variant = is_bundle ? entrants_[i].gemm.explanation().variant : "";
      row.same_build = is_bundle && row.variant == row.peer_variant && same_build(row.variant);
      row.peer_us = builder::median(calls[i].us);
      report.rows.push_back(row);
    }
  }

  // Both bundles hold the same program of this variant, but for what a compiler does not repeat.
  bool same_build(const std::string& variant) const {
    const std::string build = build_of(bundles_[0].bundle, report.target, variant);
    return !build.empty() && build == build_of(bundles_[1].bundle, report.target, variant);
  }

  const BenchDevice& on_;
  std::vector<Served> bundles_;  // the measured one, then that of --against
  Peers peers_;
  std::string variant_;
  std::vector<Entrant> entrants_;
  std::set<std::string> noted_;
};

Result<std::vector<ClblastParameters>> tuned_parameters(const Cli& cli, const std::vector<std::string>& peers) {
  std::vector<ClblastParameters> list;
  for (const std::string& path : split(cli.text("clblast-parameters"), ',')) {
    if (std::find(peers.begin(), peers.end(), "clblast") == peers.end()) {
      throw UsageError("--clblast-parameters needs --peer clblast");
    }
    Result<ClblastParameters> parameters = read_clblast_parameters(path);
    if (!parameters) return parameters.status().within("--clblast-parameters");
    list.push_back(std::move(*parameters));
  }
  return list;
}

Result<Peers> open_peers(const std::vector<std::string>& names, const BenchDevice& on,
                         const std::vector<ClblastParameters>& tuned) {
  Peers peers;
  for (const std::string& name : names) {
    Result<std::unique_ptr<Peer>> peer = make_peer(name, on.device.compute_units, tuned);
    if (!peer) return peer.status().within("--peer");
    const Status attached = (*peer)->attach(&on.session);
    if (!attached) return attached.within("--peer");
    peers.push_back(std::move(*peer));
  }
  return peers;
}

Result<std::vector<Served>> open_bundles(const BenchBundle& ours, const std::string& file, const std::string& against) {
  std::vector<Served> bundles;
  Result<Served> first = serve(ours.on, ours.bundle, file);
  if (!first) return first.status();
  bundles.push_back(std::move(*first));
  if (against.empty()) return bundles;
  const Result<Bundle> other = open_verified(against);
  if (!other) return other.status().within("--against");
  Result<Served> second = serve(ours.on, *other, against);
  if (!second) return second.status().within("--against");
  bundles.push_back(std::move(*second));
  return bundles;
}

// Single and double, and those of 16 bits and the complex ones that the bundle has.
std::vector<Precision> usual_precisions(const Bundle& bundle) {
  std::set<Precision> wanted = {Precision::single_precision, Precision::double_precision};
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) continue;
    const Result<cache::Variant> variant = bundle.variant(entry->variant);
    if (!variant) continue;
    wanted.insert(variant->precision);
    for (const Precision precision : complex_precisions) {
      if (variant->name.find(name(precision)) != std::string::npos) wanted.insert(precision);
    }
  }
  std::vector<Precision> precisions;
  for (const Precision precision : all_precisions) {
    if (wanted.count(precision) > 0) precisions.push_back(precision);
  }
  for (const Precision precision : complex_precisions) {
    if (wanted.count(precision) > 0) precisions.push_back(precision);
  }
  return precisions;
}

std::vector<Problem> problems_of(const Cli& cli, const std::vector<Precision>& precisions) {
  std::vector<Problem> problems;
  const std::size_t batch = cli.size("batch", 1, 1, INT32_MAX);
  for (const GemmKind& kind : kinds_of(precisions, cli.text("trans", "nn"))) {
    for (const Size& size : sizes_of(cli.text("sizes", "512,1024,2048"))) {
      problems.push_back(problem_of(kind, size, batch));
    }
  }
  return problems;
}

Status measure_all(GemmBench& bench, const std::vector<Problem>& problems) {
  ProgressBar bar;
  std::size_t done = 0;
  for (const Problem& problem : problems) {
    const Status measured = bench.measure(problem);
    if (!measured) return measured;
    ++done;
    if (!bench.report.rows.empty()) bar.show(done, problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
  return {};
}

void declare_options(Cli& cli) {
  cli.add_device();
  cli.add_precision("what the bundle has");
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default 512,1024,2048");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas; default nn");
  cli.add_value("batch", "N", "products of each call, one behind the other in memory (a strided batch); default 1");
  cli.add_value(
      "peer", "LIST",
      "openblas, clblast, cublas, cublaslt (the fastest of up to eight algorithms), launch (an empty kernel), "
      "separated by commas; default: none");
  cli.add_value("against", "FILE", "compare with this bundle's choices on the same device");
  cli.add_value("clblast-parameters", "LIST",
                "JSON files of CLBlast's tuners, separated by commas; later ones win; CLBlast uses these parameters");
  cli.add_value("rounds", "N", "turns of each competitor; default 5");
  cli.add_value("variant", "NAME", "use this variant, or preset, instead of the profile's choice");
  cli.add_json();
}

}  // namespace

int bench_gemm(const std::vector<std::string>& arguments) {
  Cli cli("bench gemm FILE [OPTIONS]",
          "Times the bundle's kernels, each call until it completes, alternating with other installed libraries. What "
          "was not\n"
          "baked for the device is named on stderr and left out; the exit status is 3 if it was asked for.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  problems_of(cli, cli.precisions("precision"));  // reports wrong usage before files are opened
  const std::vector<std::string> peer_names = split(cli.text("peer"), ',');
  const Result<std::vector<ClblastParameters>> tuned = tuned_parameters(cli, peer_names);
  if (!tuned) return fail("bench gemm", tuned.status());
  const Result<BenchBundle> ours = open_bundle(cli.file(), cli.text("device"));
  if (!ours) return fail("bench gemm", ours.status());
  Result<std::vector<Served>> bundles = open_bundles(*ours, cli.file(), cli.text("against"));
  if (!bundles) return fail("bench gemm", bundles.status());
  Result<Peers> peers = open_peers(peer_names, ours->on, *tuned);
  if (!peers) return fail("bench gemm", peers.status());

  GemmBench bench(ours->on, std::move(*bundles), std::move(*peers), variant_name(cli.text("variant")), rounds);
  const bool given = cli.has("precision");
  const std::vector<Precision> precisions = given ? cli.precisions("precision") : usual_precisions(ours->bundle);
  const Status status = measure_all(bench, problems_of(cli, precisions));
  if (!status) return fail("bench gemm", status);
  if (bench.report.rows.empty()) {
    return fail("clbake bench gemm: nothing to measure: " + bench.report.missing.front());
  }
  for (const std::string& line : bench.report.missing) fail("clbake bench gemm: left out: " + line);
  if (cli.has("json")) {
    print(to_json(bench.report));
  } else {
    print_text(bench.report);
  }
  return bench.lacks_kinds && (given || cli.has("trans")) ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
