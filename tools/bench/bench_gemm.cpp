// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "bench/bench.hpp"
#include "bench/host_calls.hpp"
#include "bench/peers/peers.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

namespace clbake::tool {
namespace {

void declare_gemm_options(Cli& cli) {
  cli.add_device();
  cli.add_precision("what the bundle has");
  cli.add_value("sizes", "LIST", "N or MxNxK, separated by commas; default 512,1024,2048, with --host 64");
  cli.add_value("trans", "LIST", "nn, nt, tn, tt, separated by commas; default nn");
  cli.add_value("batch", "N", "products of each call, one behind the other in memory (a strided batch); default 1");
  cli.add_list("activation", "LIST",
               "with a bias for each column and this activation, beside a product followed by a kernel that applies "
               "both; single precision: none, relu, clamp, sigmoid, silu, gelu, gelu_tanh");
  cli.add_value("peer", "LIST",
                "openblas, blis, mkl, each also with =PATH of the library, onednn, clblast, cublas, cublaslt (the "
                "fastest of up to eight algorithms), cublaslt-fast (its sums of "
                "e4m3 and e5m2 less exact), separated by commas; default: none");
  cli.add_list("clblast-parameters", "LIST",
               "JSON files of CLBlast's tuners, separated by commas; later ones win; CLBlast uses these parameters");
  cli.add_value("against", "FILE", "compare with this bundle's choices on the same device");
  cli.add_value("rounds", "N", "turns of each competitor; default 5, with --host 200");
  cli.add_list("variant", "LIST", "these variants or presets instead of the profile's choice");
  cli.add_value("group", "N,SEED",
                "instead: N products of random sizes from 16 to 512, one by one, as a group, and the sum of their "
                "shortest times on the device; default precision single");
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

struct GemmBench {
  BenchDevice on;
  std::vector<Served> bundles;  // the measured one, and perhaps another one to compare with
  std::vector<std::unique_ptr<Peer>> peers;
  std::size_t rounds = 0;
  Json rows = Json::array();
  std::map<std::string, std::string> missing = {};  // bundle or peer and what it lacks; why
  bool lacks_kinds = false;                         // of a bundle: some problems were left out
};

// Not baked: left out. Any other failure ends the benchmark.
bool is_missing(const Status& status) {
  const Code code = status.code();
  return code == Code::no_target || code == Code::other_driver || code == Code::no_variant || code == Code::no_entry;
}

// The largest error of one product.
double checked_error(builder::GemmRun& gemm_run, Gemm& gemm) {
  need(gemm_run.reset());
  need(gemm_run.run(gemm));
  const builder::Check check = need(gemm_run.check());
  if (!check.ok()) throw Failure("wrong result of " + gemm.explanation().variant);
  return check.max_error;
}

// A bundle's kernels for the problem.
struct Entrant {
  std::string bundle;
  Gemm gemm;
  double error;
};

// None when one of the bundles lacks the problem. The variant is that of the first bundle only.
std::vector<Entrant> entrants(GemmBench& bench, const Problem& problem, const std::string& variant) {
  std::vector<Entrant> list;
  for (const Served& bundle : bench.bundles) {
    Result<Gemm> gemm = bundle.library.prepare(problem, list.empty() ? variant : std::string());
    if (!gemm && is_missing(gemm.status())) {
      bench.missing.emplace(bundle.name + ": " + builder::kind_name(problem), gemm.status().message());
      bench.lacks_kinds = true;
      return {};
    }
    list.push_back({bundle.name, need(std::move(gemm), bundle.name), 0});
  }
  return list;
}

// Those that compute the problem, with its matrices. A library that computes something else is no peer.
std::vector<Peer*> peers_for(GemmBench& bench, const Problem& problem) {
  std::vector<Peer*> able;
  for (const std::unique_ptr<Peer>& peer : bench.peers) {
    if (!peer->has(problem.precision)) {
      bench.missing.emplace(peer->name() + (": " + std::string(clbake::name(problem.precision))),
                            "not in this library's interface");
    } else if (!peer->set(problem)) {
      bench.missing.emplace(peer->name() + (": " + builder::name(builder::shape_of(problem))),
                            "no proposed algorithm computes this product");
    } else {
      check_product(*peer, problem);
      able.push_back(peer.get());
    }
  }
  return able;
}

// Adds a row for each peer, or one without a peer, of this variant, or of the profile's choice if the name is empty.
// Variants and products that a bundle or a peer does not have are noted in `missing` and left out.
void measure(GemmBench& bench, const Problem& problem, const std::string& variant) {
  std::vector<Entrant> ours = entrants(bench, problem, variant);
  if (ours.empty()) return;
  builder::GemmRunOptions options;
  options.check_limit = builder::kPatientCheck;
  builder::GemmRun gemm_run = need(builder::GemmRun::create(bench.on.session, bench.on.device, problem, options));
  std::vector<TimedCall> calls;
  for (Entrant& entrant : ours) {
    entrant.error = checked_error(gemm_run, entrant.gemm);
    calls.push_back({[&] { need(gemm_run.time(entrant.gemm)); }});
  }
  const std::vector<Peer*> others = peers_for(bench, problem);
  for (Peer* peer : others) calls.push_back({[peer] { peer->run(); }});
  time_alternately(calls, bench.rounds);

  const auto speed = [&](double us) { return builder::gflops(builder::shape_of(problem), us); };
  const double us = builder::median(calls[0].us);
  const bool fused = problem.epilogue.bias != Bias::none;
  const Json row = {
      {"precision", clbake::name(problem.precision)},
      {"trans", trans_name(problem)},
      {"m", problem.m},
      {"n", problem.n},
      {"k", problem.k},
      {"batch", problem.batch},
      {"activation", fused ? Json(activation_words[static_cast<std::size_t>(problem.epilogue.activation)]) : Json()},
      {"variant", ours.front().gemm.explanation().variant},
      {"median_us", us},
      {"gflops", speed(us)},
      {"error", ours.front().error},
      {"peer", nullptr},
      {"peer_variant", nullptr},
      {"peer_gflops", nullptr},
      {"ratio", nullptr}};
  if (calls.size() == 1) bench.rows.push_back(row);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool is_bundle = i < ours.size();
    const double peer_us = builder::median(calls[i].us);
    Json& compared = bench.rows.emplace_back(row);
    compared["peer"] = is_bundle ? ours[i].bundle : others[i - ours.size()]->name();
    if (is_bundle) compared["peer_variant"] = ours[i].gemm.explanation().variant;
    compared["peer_gflops"] = speed(peer_us);
    compared["ratio"] = peer_us / us;
  }
}

void measure_all(GemmBench& bench, const Cli& cli, const std::vector<Problem>& problems) {
  std::vector<std::string> variants = cli.list("variant");
  if (variants.empty()) variants.emplace_back();  // the profile's choice
  ProgressBar bar;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const std::string& variant : variants) measure(bench, problems[i], variant_name(variant));
    if (!bench.rows.empty()) bar.show(i + 1, problems.size(), builder::name(builder::shape_of(problems[i])));
  }
}

int time_host(const Cli& cli) {
  const std::size_t rounds = cli.size("rounds", 200, 1, 100000);
  const std::vector<Problem> problems = problems_of(cli, {Precision::single_precision});
  const Bundle bundle = open_verified(cli.file());
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

Json means_json(const Json& rows) {
  std::map<std::string, std::vector<double>> ratios;
  for (const Json& row : rows) {
    if (!row["peer"].is_null()) ratios[row["peer"]].push_back(row["ratio"]);
  }
  Json means = Json::array();
  for (const auto& [peer, list] : ratios) {
    means.push_back({{"peer", peer}, {"ratio", geometric_mean(list)}, {"rows", list.size()}});
  }
  return means;
}

void print_gemm(const Json& report) {
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
          "Times the bundle's kernels, each call until it completes, alternating with other installed\n"
          "libraries. What was not baked for the device is named on stderr and left out; the exit status is 3\n"
          "if it was asked for.");
  declare_gemm_options(cli);
  if (const auto status = cli.parse(arguments)) return *status;
  check_without(cli, "host", {"precision", "trans", "batch", "activation", "peer", "against", "variant"});
  check_without(cli, "activation", {"precision", "peer", "against", "batch"});
  check_without(cli, "group", {"sizes", "batch", "activation", "peer", "against", "variant", "host"});
  if (cli.has("host")) return time_host(cli);
  if (cli.has("group")) return bench_group(cli);
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);
  std::vector<Precision> precisions = cli.precisions("precision");
  problems_of(cli, precisions);  // reports wrong usage before files are opened
  std::vector<std::unique_ptr<Peer>> peers;
  const std::vector<std::string> tuned_files = cli.list("clblast-parameters");
  const std::vector<std::string> names = split(cli.text("peer"), ',');
  if (!tuned_files.empty() && std::count(names.begin(), names.end(), "clblast") == 0) {
    throw UsageError("--clblast-parameters needs --peer clblast");
  }
  for (const std::string& name : names) {
    peers.push_back(name == "clblast" ? make_clblast(tuned_files) : make_peer(name));
  }

  const Bundle bundle = open_verified(cli.file());
  const BenchDevice on = open_device(bundle, cli.text("device"));
  GemmBench bench{on, {serve(on, bundle, cli.file())}, std::move(peers), rounds};
  if (cli.has("against")) {
    const std::string against = cli.text("against");
    bench.bundles.push_back(serve(on, open_verified(against, "--against"), against));
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
  cli.has("json") ? print(report) : print_gemm(report);
  return bench.lacks_kinds && (cli.has("precision") || cli.has("trans")) ? kLeftOut : kSuccess;
}

}  // namespace clbake::tool
