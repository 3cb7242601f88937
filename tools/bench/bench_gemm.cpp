// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "bench/peers/peers.hpp"
#include "bench/race.hpp"
#include "bench/workbench.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "cli/progress_bar.hpp"
#include "cli/variants.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;

struct Row {
  Problem problem;
  std::string variant;
  double us = 0;
  double error = 0;
  std::string peer;          // empty: none
  std::string peer_variant;  // of a peer that is a bundle
  double peer_us = 0;
};

// Another bundle on the same device.
struct Rival {
  std::string name;  // of the file
  Library library;
};

// Who else took part in a race.
struct Opponent {
  std::string name;
  std::string variant;  // of a bundle; empty: none
};

// None for no file.
Result<std::vector<Rival>> open_rivals(const Workbench& workbench, const std::string& file) {
  std::vector<Rival> rivals;
  if (file.empty()) return rivals;
  const Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  Result<Library> library = Library::create(workbench.session.context(), workbench.device.id, {*bundle});
  if (!library) return library.status();
  rivals.push_back({std::filesystem::path(file).filename().string(), std::move(*library)});
  return rivals;
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

class GemmBench {
 public:
  GemmBench(const Workbench& workbench, std::vector<Rival> rivals, std::vector<std::unique_ptr<Peer>> peers,
            std::size_t rounds, std::string variant)
      : workbench_(workbench),
        rivals_(std::move(rivals)),
        peers_(std::move(peers)),
        rounds_(rounds),
        variant_(std::move(variant)) {}

  // One row for each peer; one without a peer when there are none.
  Status measure(const Problem& problem, std::vector<Row>& rows) {
    builder::GemmRunOptions options;
    options.check_limit = builder::kPatientCheck;
    Result<builder::GemmRun> trial = builder::GemmRun::create(workbench_.session, workbench_.device, problem, options);
    if (!trial) return trial.status();
    Row row;
    row.problem = problem;
    Result<Gemm> gemm = prepare(workbench_.library, problem, variant_, *trial, row.error);
    if (!gemm) return gemm.status();
    row.variant = gemm->explanation().variant;

    std::vector<Contender> contenders = {{[&] { return trial->run(*gemm).status(); }, {}}};
    std::vector<Opponent> opponents;
    std::vector<Gemm> others;
    others.reserve(rivals_.size());  // the contenders keep references
    for (const Rival& rival : rivals_) {
      double error = 0;
      Result<Gemm> other = prepare(rival.library, problem, {}, *trial, error);
      if (!other) return other.status().within(rival.name);
      others.push_back(std::move(*other));
      opponents.push_back({rival.name, others.back().explanation().variant});
      contenders.push_back({[&trial, &gemm = others.back()] { return trial->run(gemm).status(); }, {}});
    }
    for (const std::unique_ptr<Peer>& peer : peers_) {
      if (!peer->has(problem.precision)) continue;
      opponents.push_back({peer->name(), {}});
      const Status ready = peer->set(problem);
      if (!ready) return ready;
      contenders.push_back({[&peer] { return peer->run(); }, {}});
    }
    const Status raced = race(contenders, rounds_);
    if (!raced) return raced;

    row.us = builder::median(contenders[0].times);
    if (opponents.empty()) rows.push_back(row);
    for (std::size_t i = 0; i < opponents.size(); ++i) {
      row.peer = opponents[i].name;
      row.peer_variant = opponents[i].variant;
      row.peer_us = builder::median(contenders[i + 1].times);
      rows.push_back(row);
    }
    return {};
  }

 private:
  // Ready to be timed: it has run once, with a right result.
  static Result<Gemm> prepare(const Library& library, const Problem& problem, const std::string& variant,
                              builder::GemmRun& trial, double& error) {
    Result<Gemm> gemm = library.prepare(problem, variant);
    if (!gemm) return gemm;
    Status status = trial.reset();
    if (status) status = trial.run(*gemm).status();
    if (!status) return status;
    const Result<builder::Check> check = trial.check();
    if (!check) return check.status();
    if (!check->ok()) return {Code::wrong_result, "wrong result of " + gemm->explanation().variant};
    error = check->max_error;
    return gemm;
  }

  const Workbench& workbench_;
  std::vector<Rival> rivals_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::size_t rounds_;
  std::string variant_;
};

Json to_json(const Row& row) {
  const Problem& p = row.problem;
  const bool alone = row.peer.empty();
  return {{"precision", clbake::name(p.precision)},
          {"trans", trans_name(p)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"variant", row.variant},
          {"median_us", row.us},
          {"gflops", gflops(p, row.us)},
          {"peer", alone ? Json() : Json(row.peer)},
          {"peer_variant", row.peer_variant.empty() ? Json() : Json(row.peer_variant)},
          {"peer_gflops", alone ? Json() : Json(gflops(p, row.peer_us))},
          {"ratio", alone ? Json() : Json(row.peer_us / row.us)},
          {"error", row.error}};
}

void print_table(const std::vector<Row>& rows, const Target& target, std::size_t rounds) {
  std::printf("%s; driver %s; medians over %zu alternating rounds; ratio > 1: clbake is faster\n\n",
              target.device_name.c_str(), target.driver_version.c_str(), rounds);
  int width = 9;
  for (const Row& row : rows) width = std::max(width, static_cast<int>(row.peer.size()));
  std::printf("| precision | op | %-18s | %12s | %10s | %*s | %13s | %6s |\n", "m x n x k", "median us", "GFLOP/s",
              width, "peer", "peer GFLOP/s", "ratio");
  std::printf("|-----------|----|--------------------|-------------:|-----------:|%s|--------------:|-------:|\n",
              std::string(static_cast<std::size_t>(width) + 2, '-').c_str());
  for (const Row& row : rows) {
    const Problem& p = row.problem;
    const std::string size = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
    std::printf("| %-9s | %s | %-18s | %12.1f | %10.1f |", clbake::name(p.precision), trans_name(p).c_str(),
                size.c_str(), row.us, gflops(p, row.us));
    if (row.peer.empty()) {
      std::printf(" %-*s | %13s | %6s |\n", width, "-", "-", "-");
    } else {
      std::printf(" %-*s | %13.1f | %6.2f |\n", width, row.peer.c_str(), gflops(p, row.peer_us), row.peer_us / row.us);
    }
  }
}

}  // namespace

int bench_gemm(const std::vector<std::string>& arguments) {
  Cli cli("bench gemm FILE [OPTIONS]",
          "Times the bundle's kernels, each call to its end, in turns with other libraries where they are installed.");
  cli.options()("device", po::value<std::string>(), "SPEC: an index of 'clbake devices', or part of a name");
  cli.options()("precision", po::value<std::string>(),
                "half, single, double, separated by commas; default single,double");
  cli.options()("sizes", po::value<std::string>(), "N or MxNxK, separated by commas; default 512,1024,2048");
  cli.options()("trans", po::value<std::string>(), "nn, nt, tn, tt, separated by commas; default nn");
  cli.options()("peer", po::value<std::string>(),
                "openblas, clblast, cublas, launch (an empty kernel), separated by commas; default: none");
  cli.options()("against", po::value<std::string>(), "another bundle, whose choices for the same device are a peer");
  cli.options()("clblast-parameters", po::value<std::string>(),
                "JSON files of CLBlast's tuners for it to use, separated by commas; later ones win");
  cli.options()("rounds", po::value<std::string>(), "default 5");
  cli.options()("variant", po::value<std::string>(), "use this variant, or preset, instead of the profile's choice");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::vector<Precision> precisions = cli.precisions("precision");
  const std::vector<Size> sizes = sizes_of(cli.has("sizes") ? cli.text("sizes") : "512,1024,2048");
  const std::vector<Transposes> transposes = transposes_of(cli.has("trans") ? cli.text("trans") : "nn");
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);

  const std::vector<std::string> peer_names = split(cli.text("peer"), ',');
  const Result<std::vector<ClblastParameters>> tuned = tuned_parameters(cli, peer_names);
  if (!tuned) return fail("bench gemm", tuned.status());
  const Result<Workbench> workbench = open_workbench(cli.file(), cli.text("device"));
  if (!workbench) return fail("bench gemm", workbench.status());
  Result<std::vector<Rival>> rivals = open_rivals(*workbench, cli.text("against"));
  if (!rivals) return fail("bench gemm", rivals.status().within("--against"));
  std::vector<std::unique_ptr<Peer>> peers;
  for (const std::string& name : peer_names) {
    Result<std::unique_ptr<Peer>> peer = make_peer(name, workbench->device.compute_units, *tuned);
    if (!peer) return fail("bench gemm", peer.status().within("--peer"));
    const Status attached = (*peer)->attach(&workbench->session);
    if (!attached) return fail("bench gemm", attached.within("--peer"));
    for (const Precision precision : precisions) {
      if (!(*peer)->has(precision)) {
        std::fprintf(stderr, "clbake bench gemm: %s has no %s precision: left out there\n", name.c_str(),
                     clbake::name(precision));
      }
    }
    peers.push_back(std::move(*peer));
  }

  GemmBench bench(*workbench, std::move(*rivals), std::move(peers), rounds, variant_name(cli.text("variant")));
  ProgressBar bar;
  std::vector<Row> rows;
  std::size_t done = 0;
  const std::size_t total = precisions.size() * transposes.size() * sizes.size();
  for (const Precision precision : precisions) {
    for (const Transposes t : transposes) {
      for (const Size& size : sizes) {
        const Problem problem = builder::tight_problem(precision, size.m, size.n, size.k, t.a, t.b);
        const Status measured = bench.measure(problem, rows);
        if (!measured) return fail("bench gemm", measured);
        bar.show(++done, total, name(size));
      }
    }
  }
  bar.clear();
  if (cli.has("json")) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(to_json(row));
    print({{"device", workbench->device.target.device_name}, {"rounds", rounds}, {"rows", list}});
  } else {
    print_table(rows, workbench->device.target, rounds);
  }
  return kSuccess;
}

int bench(const std::vector<std::string>& arguments) {
  const std::string which = arguments.empty() ? std::string() : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (which == "bake") return bench_bake(rest);
  if (which == "choice") return bench_choice(rest);
  if (which == "cold") return bench_cold(rest);
  if (which == "gemm") return bench_gemm(rest);
  if (which == "load") return bench_load(rest);
  if (which == "overhead") return bench_overhead(rest);
  if (which == "presets") return bench_presets(rest);
  if (which == "--help" || which == "-h") {
    std::printf(
        "usage: clbake bench cold FILE [OPTIONS]\n       clbake bench gemm FILE [OPTIONS]\n"
        "       clbake bench choice FILE [OPTIONS]\n       clbake bench presets FILE|DEVICE [OPTIONS]\n"
        "       clbake bench load FILE [OPTIONS]\n       clbake bench overhead FILE [OPTIONS]\n       clbake bench "
        "bake [OPTIONS]\n");
    return kSuccess;
  }
  throw UsageError(which.empty() ? "what to measure is missing: cold, gemm, choice, presets, load, overhead or bake"
                                 : "'" + which + "' is none of cold, gemm, choice, presets, load, overhead, bake");
}

}  // namespace clbake::tool
