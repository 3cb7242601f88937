// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "bench/gemm_bench.hpp"
#include "bench/host_calls.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/progress_bar.hpp"
#include "cli/table.hpp"
#include "cli/variants.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

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
                "openblas, clblast, cublas, cublaslt (the fastest of up to eight algorithms), separated by commas; "
                "default: none");
  cli.add_value("against", "FILE", "compare with this bundle's choices on the same device");
  cli.add_value("rounds", "N", "turns of each competitor; default 5, with --host 200");
  cli.add_list("variant", "LIST", "these variants or presets instead of the profile's choice");
  cli.add_flag("host", "instead: the time of a call on the host, beside the bare OpenCL calls; single precision");
  cli.add_json();
}

// Those that have entries: complex products are served by real variants that have the complex precision's name.
std::vector<Precision> baked_precisions(const Bundle& bundle) {
  std::set<Precision> baked;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::Variant variant = need(bundle.variant(need(bundle.entry(i)).variant));
    if (variant.is_program()) continue;
    Precision serves = variant.precision;
    for (const Precision precision : complex_precisions) {
      if (variant.name.find(name(precision)) != std::string::npos) serves = precision;
    }
    baked.insert(serves);
  }
  return {baked.begin(), baked.end()};
}

std::vector<Problem> problems_of(const Cli& cli, const std::vector<Precision>& precisions) {
  std::vector<Problem> problems;
  const std::size_t batch = cli.size("batch", 1, 1, INT32_MAX);
  for (const GemmKind& kind : kinds_of(precisions, cli.text("trans", "nn"))) {
    for (const Size& size : sizes_of(cli.text("sizes", cli.has("host") ? "64" : "512,1024,2048"))) {
      Problem problem = problem_of(kind, size, batch);
      if (!cli.has("activation")) problems.push_back(problem);
      for (const std::string& activation : cli.list("activation")) {
        problem.epilogue.bias = Bias::per_column;
        problem.epilogue.activation = activation_of(activation);
        problem.epilogue.high = 1;
        problems.push_back(problem);
      }
    }
  }
  return problems;
}

// Throws UsageError for an option that says nothing beside `option`.
void check_without(const Cli& cli, const char* option, const std::vector<const char*>& others) {
  for (const char* other : others) {
    if (cli.has(option) && cli.has(other)) throw UsageError(std::string("--") + option + ": without --" + other);
  }
}

void measure_all(GemmBench& bench, const Cli& cli, const std::vector<Problem>& problems) {
  std::vector<std::string> variants = cli.list("variant");
  if (variants.empty()) variants.emplace_back();  // the profile's choice
  ProgressBar bar;
  std::size_t done = 0;
  for (const Problem& problem : problems) {
    for (const std::string& variant : variants) bench.measure(problem, variant_name(variant));
    ++done;
    if (!bench.rows.empty()) bar.show(done, problems.size(), name(Size{problem.m, problem.n, problem.k}));
  }
}

int time_host(const Cli& cli) {
  const std::size_t rounds = cli.size("rounds", 200, 1, 100000);
  const std::vector<Problem> problems = problems_of(cli, {Precision::single_precision});
  const Bundle bundle = need(open_verified(cli.file()));
  const BenchDevice on = open_device(bundle, cli.text("device"));
  Json rows = Json::array();
  for (const Problem& problem : problems) rows.push_back(host_times(on, bundle, problem, rounds));
  const std::string& device = on.device.target.device_name;
  if (cli.has("json")) {
    print({{"device", device}, {"rounds", rounds}, {"rows", rows}});
    return kSuccess;
  }
  std::printf("%s; microseconds on the host, medians of %zu calls\n\n", device.c_str(), rounds * host_calls_per_round);
  print_table(rows);
  return kSuccess;
}

// In the order in which peers first appear.
Json means_json(const Json& rows) {
  Json means = Json::array();
  std::vector<std::vector<double>> ratios;
  for (const Json& row : rows) {
    if (row["peer"].is_null()) continue;
    std::size_t i = 0;
    while (i < means.size() && means[i]["peer"] != row["peer"]) ++i;
    if (i == means.size()) means.push_back({{"peer", row["peer"]}}), ratios.emplace_back();
    ratios[i].push_back(row["ratio"]);
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i].update({{"ratio", geometric_mean(ratios[i])}, {"rows", ratios[i].size()}});
  }
  return means;
}

void print_text(const Json& report) {
  std::printf("%s; driver %s; medians over %s in turns; ratio > 1: clbake is faster\n\n",
              cell_text(report["device"]).c_str(), cell_text(report["driver"]).c_str(),
              counted(report["rounds"].get<std::size_t>(), "round").c_str());
  print_table({"precision",
               {"op", "trans"},
               "activation",
               "m",
               "n",
               "k",
               "batch",
               {"median us", "median_us"},
               {"GFLOP/s", "gflops"},
               "peer",
               {"peer GFLOP/s", "peer_gflops"},
               "ratio"},
              report["rows"]);
  for (const Json& mean : report["geometric_means"]) {
    std::printf("\ngeometric mean of %s against %s: %.2f\n", counted(mean["rows"].get<std::size_t>(), "ratio").c_str(),
                mean["peer"].get<std::string>().c_str(), mean["ratio"].get<double>());
  }
}

}  // namespace

int bench_gemm(const std::vector<std::string>& arguments) {
  Cli cli("bench gemm FILE [OPTIONS]",
          "Times the bundle's kernels, each call until it completes, alternating with other installed libraries. What\n"
          "was not baked for the device is named on stderr and left out; the exit status is 3 if it was asked for.");
  declare_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  check_without(cli, "host", {"precision", "trans", "batch", "activation", "peer", "against", "variant"});
  check_without(cli, "activation", {"precision", "peer", "against", "batch"});
  if (cli.has("host")) return time_host(cli);
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  std::vector<Precision> precisions = cli.precisions("precision");
  problems_of(cli, precisions);  // reports wrong usage before files are opened
  std::vector<std::unique_ptr<Peer>> peers;
  for (const std::string& name : split(cli.text("peer"), ',')) peers.push_back(make_peer(name));

  const Bundle bundle = need(open_verified(cli.file()));
  const BenchDevice on = open_device(bundle, cli.text("device"));
  GemmBench bench{on, {serve(on, bundle, cli.file())}, std::move(peers), rounds};
  if (cli.has("against")) {
    const std::string against = cli.text("against");
    bench.bundles.push_back(serve(on, need(open_verified(against), "--against"), against));
  }
  if (cli.has("activation")) {
    precisions = {Precision::single_precision};
    bench.peers.push_back(make_separate(bench.bundles.front().library));
  } else if (!cli.has("precision")) {
    precisions = baked_precisions(bundle);
  }
  for (const std::unique_ptr<Peer>& peer : bench.peers) peer->attach(&on.session);
  measure_all(bench, cli, problems_of(cli, precisions));

  std::vector<std::string> missing;
  for (const auto& [what, why] : bench.missing) missing.push_back(what + ": " + why);
  if (bench.rows.empty()) {
    throw Failure("nothing to measure: " + (missing.empty() ? "the bundle has no variant" : missing.front()));
  }
  for (const std::string& line : missing) fail("clbake bench gemm: left out: " + line);
  const Json report = {{"device", on.device.target.device_name},
                       {"driver", on.device.target.driver_version},
                       {"rounds", rounds},
                       {"rows", bench.rows},
                       {"geometric_means", means_json(bench.rows)},
                       {"missing", missing}};
  cli.has("json") ? print(report) : print_text(report);
  return bench.lacks_kinds && (cli.has("precision") || cli.has("trans")) ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
