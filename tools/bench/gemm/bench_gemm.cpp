// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "bench/alternate.hpp"
#include "bench/gemm/gemm_bench.hpp"
#include "bench/gemm/host_calls.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/epilogue.hpp"
#include "cli/progress_bar.hpp"
#include "cli/variants.hpp"
#include "command/verbs.hpp"
#include "report/measurements.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>

namespace clbake::tool {
namespace {

using Peers = std::vector<std::unique_ptr<Peer>>;

constexpr const char* kAllVariants = "all";

void declare_options(Cli& cli) {
  cli.add_device();
  cli.add_precision("what the bundle has");
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default 512,1024,2048, with --host 64");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas; default nn");
  cli.add_value("batch", "N", "products of each call, one behind the other in memory (a strided batch); default 1");
  cli.add_list("activation", "LIST",
               "with a bias for each column and this activation, beside a product followed by a kernel that applies "
               "both; single precision: none, relu, clamp, sigmoid, silu, gelu, gelu_tanh");
  cli.add_value("peer", "LIST",
                "openblas, clblast, cublas, cublaslt (the fastest of up to eight algorithms), launch (an empty "
                "kernel), separated by commas; default: none");
  cli.add_value("against", "FILE", "compare with this bundle's choices on the same device");
  cli.add_value("clblast-parameters", "LIST",
                "JSON files of CLBlast's tuners, separated by commas; later ones win; CLBlast uses these parameters");
  cli.add_value("rounds", "N", "turns of each competitor; default 5, with --host 200");
  cli.add_list("variant", "LIST", "these variants or presets instead of the profile's choice; all: every one");
  cli.add_flag("host", "instead: the time of a call on the host, beside the bare OpenCL calls; single precision");
  add_measurement_options(cli);
  cli.add_json();
}

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

// The variants that have an entry.
std::vector<cache::Variant> baked_variants(const Bundle& bundle) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (entry) numbers.insert(entry->variant);
  }
  std::vector<cache::Variant> variants;
  for (const std::uint32_t number : numbers) {
    Result<cache::Variant> variant = bundle.variant(number);
    if (variant && !variant->is_program()) variants.push_back(std::move(*variant));
  }
  return variants;
}

// Those that the bundle has: complex products are served by real variants that have the complex precision's name.
std::vector<Precision> baked_precisions(const Bundle& bundle) {
  std::vector<Precision> precisions;
  const std::vector<cache::Variant> variants = baked_variants(bundle);
  const auto add_if = [&](Precision precision, const auto& serves) {
    if (std::any_of(variants.begin(), variants.end(), serves)) precisions.push_back(precision);
  };
  for (const Precision precision : all_precisions) {
    add_if(precision, [&](const cache::Variant& v) { return v.precision == precision; });
  }
  for (const Precision precision : complex_precisions) {
    add_if(precision, [&](const cache::Variant& v) { return v.name.find(name(precision)) != std::string::npos; });
  }
  return precisions;
}

std::vector<Activation> activations(const Cli& cli) {
  if (!cli.has("activation")) return {};
  if (cli.has("precision") || cli.has("peer") || cli.has("against") || cli.has("batch")) {
    throw UsageError("--activation: without --precision, --peer, --against and --batch");
  }
  return activations_of(cli.list("activation"));
}

std::vector<Problem> problems_of(const Cli& cli, const std::vector<Precision>& precisions) {
  std::vector<Problem> problems;
  const std::size_t batch = cli.size("batch", 1, 1, INT32_MAX);
  const std::vector<Activation> epilogues = activations(cli);
  for (const GemmKind& kind : kinds_of(precisions, cli.text("trans", "nn"))) {
    for (const Size& size : sizes_of(cli.text("sizes", cli.has("host") ? "64" : "512,1024,2048"))) {
      Problem problem = problem_of(kind, size, batch);
      if (epilogues.empty()) problems.push_back(problem);
      for (const Activation activation : epilogues) {
        problem.epilogue.bias = Bias::per_column;
        problem.epilogue.activation = activation;
        problem.epilogue.high = 1;
        problems.push_back(problem);
      }
    }
  }
  return problems;
}

// Names for a problem: one empty name for the profile's choice.
std::vector<std::string> variants_for(const Cli& cli, const Bundle& bundle, const Problem& problem) {
  const std::vector<std::string> given = cli.list("variant");
  if (given.empty()) return {""};
  std::vector<std::string> names;
  if (given == std::vector<std::string>{kAllVariants}) {
    for (const cache::Variant& variant : baked_variants(bundle)) {
      if (variant.kind() == problem.kind()) names.push_back(variant.name);
    }
  }
  for (const std::string& name : given) {
    if (name != kAllVariants) names.push_back(variant_name(name));
  }
  return names;
}

Status measure_all(GemmBench& bench, const Cli& cli, const Bundle& bundle, const std::vector<Problem>& problems) {
  ProgressBar bar;
  std::size_t done = 0;
  for (const Problem& problem : problems) {
    for (const std::string& variant : variants_for(cli, bundle, problem)) {
      const Status measured = bench.measure(problem, variant);
      if (!measured) return measured;
    }
    ++done;
    if (!bench.report.rows.empty()) bar.show(done, problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
  return {};
}

int time_host(const Cli& cli) {
  for (const char* other : {"precision", "trans", "batch", "activation", "peer", "against", "variant", "csv"}) {
    if (cli.has(other)) throw UsageError("--host: without --" + std::string(other));
  }
  const std::size_t rounds = cli.size("rounds", 200, 1, 100000);
  const std::vector<Problem> problems = problems_of(cli, {Precision::single_precision});
  const Result<BenchBundle> bundle = open_bundle(cli.file(), cli.text("device"));
  if (!bundle) return fail("bench gemm", bundle.status());
  Json rows = Json::array();
  for (const Problem& problem : problems) {
    const Result<Json> row = host_times(*bundle, problem, rounds);
    if (!row) return fail("bench gemm", row.status());
    rows.push_back(*row);
  }
  const Json report = {{"device", bundle->on.device.target.device_name}, {"rounds", rounds}, {"rows", std::move(rows)}};
  cli.has("json") ? print(report) : print_host_times(report);
  return kSuccess;
}

}  // namespace

int bench_gemm(const std::vector<std::string>& arguments) {
  Cli cli("bench gemm FILE [OPTIONS]",
          "Times the bundle's kernels, each call until it completes, alternating with other installed libraries. What\n"
          "was not baked for the device is named on stderr and left out; the exit status is 3 if it was asked for.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.has("host")) return time_host(cli);
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  problems_of(cli, cli.precisions("precision"));  // reports wrong usage before files are opened
  const Status can_append = check_gemm_csv(cli);
  if (!can_append) return fail("bench gemm", can_append);
  const std::vector<std::string> peer_names = split(cli.text("peer"), ',');
  const Result<std::vector<ClblastParameters>> tuned = tuned_parameters(cli, peer_names);
  if (!tuned) return fail("bench gemm", tuned.status());
  const Result<BenchBundle> ours = open_bundle(cli.file(), cli.text("device"));
  if (!ours) return fail("bench gemm", ours.status());
  const Result<std::vector<Served>> bundles = open_bundles(*ours, cli.file(), cli.text("against"));
  if (!bundles) return fail("bench gemm", bundles.status());
  Result<Peers> peers = open_peers(peer_names, ours->on, *tuned);
  if (!peers) return fail("bench gemm", peers.status());
  std::vector<Precision> precisions = baked_precisions(ours->bundle);
  if (cli.has("precision")) precisions = cli.precisions("precision");
  if (cli.has("activation")) {
    precisions = {Precision::single_precision};
    peers->push_back(make_separate(bundles->front().library));
    const Status attached = peers->back()->attach(&ours->on.session);
    if (!attached) return fail("bench gemm", attached);
  }

  GemmBench bench(ours->on, *bundles, *peers, rounds);
  const Status status = measure_all(bench, cli, ours->bundle, problems_of(cli, precisions));
  if (!status) return fail("bench gemm", status);
  const std::vector<std::string>& missing = bench.report.missing;
  if (bench.report.rows.empty()) {
    const std::string cause = missing.empty() ? bundles->front().name + ": no such variant" : missing.front();
    return fail("clbake bench gemm: nothing to measure: " + cause);
  }
  for (const std::string& line : missing) fail("clbake bench gemm: left out: " + line);
  const Status kept = append_gemm(cli, arguments, bench.report);
  if (!kept) return fail("bench gemm", kept);
  if (cli.has("json")) {
    print(to_json(bench.report));
  } else {
    print_text(bench.report);
  }
  return bench.lacks_kinds && (cli.has("precision") || cli.has("trans")) ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
