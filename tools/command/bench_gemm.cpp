// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "cli.hpp"
#include "json.hpp"
#include "peers.hpp"
#include "progress_bar.hpp"
#include "race.hpp"
#include "variants.hpp"
#include "verbs.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;

struct Transposes {
  bool a, b;
};

struct Row {
  Problem problem;
  std::string variant;
  double us = 0;
  double error = 0;
  std::string peer;  // empty: none
  double peer_us = 0;
};

std::vector<Transposes> transposes_of(const std::string& text) {
  std::vector<Transposes> list;
  for (const std::string& part : split(text, ',')) {
    if (part.size() != 2 || part.find_first_not_of("nt") != std::string::npos) {
      throw UsageError("--trans: '" + part + "' is none of nn, nt, tn, tt");
    }
    list.push_back({part[0] == 't', part[1] == 't'});
  }
  if (list.empty()) throw UsageError("--trans: no transposes given");
  return list;
}

class GemmBench {
 public:
  GemmBench(const builder::Device& device, const builder::Session& session, const Library& library,
            std::vector<std::unique_ptr<Peer>> peers, std::size_t rounds, std::string variant)
      : device_(device),
        session_(session),
        library_(library),
        peers_(std::move(peers)),
        rounds_(rounds),
        variant_(std::move(variant)) {}

  // One row for each peer; one without a peer when there are none.
  Status measure(const Problem& problem, std::vector<Row>& rows) {
    builder::TrialOptions options;
    options.check_all_rows = false;
    Result<builder::Trial> trial = builder::Trial::create(session_, device_, problem, options);
    if (!trial) return trial.status();
    Result<Gemm> gemm = library_.prepare(problem, variant_);
    if (!gemm) return gemm.status();
    const Status first = trial->run(*gemm).status();
    if (!first) return first;
    const Result<builder::Check> check = trial->check();
    if (!check) return check.status();
    if (!check->ok()) return {Code::wrong_result, "wrong result of " + gemm->explanation().variant};

    std::vector<Contender> contenders = {{[&] { return trial->run(*gemm).status(); }, {}}};
    std::vector<const char*> names;
    for (const std::unique_ptr<Peer>& peer : peers_) {
      if (!peer->has(problem.precision)) continue;
      names.push_back(peer->name());
      const Status ready = peer->set(problem);
      if (!ready) return ready;
      contenders.push_back({[&peer] { return peer->run(); }, {}});
    }
    const Status raced = race(contenders, rounds_);
    if (!raced) return raced;

    Row row;
    row.problem = problem;
    row.variant = gemm->explanation().variant;
    row.us = builder::median(contenders[0].times);
    row.error = check->max_error;
    if (names.empty()) rows.push_back(row);
    for (std::size_t i = 0; i < names.size(); ++i) {
      row.peer = names[i];
      row.peer_us = builder::median(contenders[i + 1].times);
      rows.push_back(row);
    }
    return {};
  }

 private:
  const builder::Device& device_;
  const builder::Session& session_;
  const Library& library_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::size_t rounds_;
  std::string variant_;
};

std::string trans_name(const Problem& p) { return std::string(p.trans_a ? "t" : "n") + (p.trans_b ? "t" : "n"); }

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
          {"peer_gflops", alone ? Json() : Json(gflops(p, row.peer_us))},
          {"ratio", alone ? Json() : Json(row.peer_us / row.us)},
          {"error", row.error}};
}

void print_table(const std::vector<Row>& rows, const Target& target, std::size_t rounds) {
  std::printf("%s; driver %s; medians over %zu alternating rounds; ratio > 1: clbake is faster\n\n",
              target.device_name.c_str(), target.driver_version.c_str(), rounds);
  std::printf("| precision | op | %-18s | %12s | %10s | %9s | %13s | %6s |\n", "m x n x k", "median us", "GFLOP/s",
              "peer", "peer GFLOP/s", "ratio");
  std::printf(
      "|-----------|----|--------------------|-------------:|-----------:|-----------|--------------:|-------:|\n");
  for (const Row& row : rows) {
    const Problem& p = row.problem;
    const std::string size = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
    std::printf("| %-9s | %s | %-18s | %12.1f | %10.1f |", clbake::name(p.precision), trans_name(p).c_str(),
                size.c_str(), row.us, gflops(p, row.us));
    if (row.peer.empty()) {
      std::printf(" %-9s | %13s | %6s |\n", "-", "-", "-");
    } else {
      std::printf(" %-9s | %13.1f | %6.2f |\n", row.peer.c_str(), gflops(p, row.peer_us), row.peer_us / row.us);
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
  cli.options()("rounds", po::value<std::string>(), "default 5");
  cli.options()("variant", po::value<std::string>(), "use this variant, or preset, instead of the profile's choice");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const std::vector<Precision> precisions = cli.precisions("precision");
  const std::vector<Size> sizes = sizes_of(cli.has("sizes") ? cli.text("sizes") : "512,1024,2048");
  const std::vector<Transposes> transposes = transposes_of(cli.has("trans") ? cli.text("trans") : "nn");
  const std::size_t rounds = cli.size("rounds", 5, 1, 10000);

  for (const auto& [name, value] : builder::steady_environment()) setenv(name.c_str(), value.c_str(), 0);
  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return fail("bench gemm", bundle.status());
  const Result<builder::Device> device = device_for(*bundle, cli.text("device"));
  if (!device) return fail("bench gemm", device.status());
  const Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return fail("bench gemm", session.status());
  const Result<Library> library = Library::create(session->context(), device->id, {*bundle});
  if (!library) return fail("bench gemm", library.status());
  std::vector<std::unique_ptr<Peer>> peers;
  for (const std::string& name : split(cli.text("peer"), ',')) {
    Result<std::unique_ptr<Peer>> peer = make_peer(name, device->compute_units);
    if (!peer) return fail("bench gemm", peer.status().within("--peer"));
    const Status attached = (*peer)->attach(&*session);
    if (!attached) return fail("bench gemm", attached.within("--peer"));
    for (const Precision precision : precisions) {
      if (!(*peer)->has(precision)) {
        std::fprintf(stderr, "clbake bench gemm: %s has no %s precision: left out there\n", name.c_str(),
                     clbake::name(precision));
      }
    }
    peers.push_back(std::move(*peer));
  }

  GemmBench bench(*device, *session, *library, std::move(peers), rounds, variant_name(cli.text("variant")));
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
    print({{"device", device->target.device_name}, {"rounds", rounds}, {"rows", list}});
  } else {
    print_table(rows, device->target, rounds);
  }
  return kSuccess;
}

int bench(const std::vector<std::string>& arguments) {
  const std::string which = arguments.empty() ? std::string() : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (which == "bake") return bench_bake(rest);
  if (which == "cold") return bench_cold(rest);
  if (which == "gemm") return bench_gemm(rest);
  if (which == "load") return bench_load(rest);
  if (which == "presets") return bench_presets(rest);
  if (which == "--help" || which == "-h") {
    std::printf(
        "usage: clbake bench cold FILE [OPTIONS]\n       clbake bench gemm FILE [OPTIONS]\n"
        "       clbake bench presets FILE|DEVICE [OPTIONS]\n       clbake bench load FILE [OPTIONS]\n       clbake "
        "bench bake [OPTIONS]\n");
    return kSuccess;
  }
  throw UsageError(which.empty() ? "what to measure is missing: cold, gemm, presets, load or bake"
                                 : "'" + which + "' is none of cold, gemm, presets, load, bake");
}

}  // namespace clbake::tool
