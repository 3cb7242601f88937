// `clbake bench gemm`: speed of the bundle's kernels, side by side with other libraries.
#include "cli.hpp"
#include "json.hpp"
#include "peers.hpp"
#include "progress_bar.hpp"
#include "verbs.hpp"

#include <clbake/builder/scratch.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;
using Clock = std::chrono::steady_clock;

// Threads of some libraries spin for a while after a call; without a pause they slow down whoever runs next.
constexpr std::chrono::milliseconds kPause{40};
constexpr double kRoundSeconds = 0.1;  // one contender's turn in a round

struct Size {
  std::size_t m, n, k;
};

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

std::size_t whole_number(const std::string& text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw UsageError("--sizes: '" + text + "' is not a size");
  }
  return std::stoul(text);
}

// "256,512" or "1000x20x300", mixed.
std::vector<Size> sizes_of(const std::string& text) {
  std::vector<Size> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> numbers = split(part, 'x');
    if (numbers.size() != 1 && numbers.size() != 3) throw UsageError("--sizes: '" + part + "' is neither N nor MxNxK");
    const Size size{whole_number(numbers.front()), whole_number(numbers[numbers.size() / 2]),
                    whole_number(numbers.back())};
    if (size.m == 0 || size.n == 0 || size.k == 0) throw UsageError("--sizes: '" + part + "' has nothing to time");
    sizes.push_back(size);
  }
  if (sizes.empty()) throw UsageError("--sizes: no size given");
  return sizes;
}

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

// Calls `once` until the turn's time is over; appends the microseconds of each call.
Status take_turn(const std::function<Status()>& once, std::vector<double>& times) {
  const auto turn = Clock::now();
  do {
    const auto start = Clock::now();
    const Status status = once();
    if (!status) return status;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (std::chrono::duration<double>(Clock::now() - turn).count() < kRoundSeconds);
  return {};
}

struct Contender {
  std::function<Status()> once;
  std::vector<double> times;
};

// Everyone takes a turn in each round; the first turn warms up and is not counted.
Status race(std::vector<Contender>& contenders, std::size_t rounds) {
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Contender& contender : contenders) {
      std::this_thread::sleep_for(kPause);
      const Status status = take_turn(contender.once, contender.times);
      if (!status) return status;
      if (round == 0) contender.times.clear();
    }
  }
  return {};
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
    for (const std::unique_ptr<Peer>& peer : peers_) {
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
    if (peers_.empty()) rows.push_back(row);
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      row.peer = peers_[i]->name();
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

double gflops(const Problem& p, double us) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / us / 1e3;
}

std::string trans_name(const Problem& p) { return std::string(p.trans_a ? "t" : "n") + (p.trans_b ? "t" : "n"); }

Json to_json(const Row& row) {
  const Problem& p = row.problem;
  const bool alone = row.peer.empty();
  return {{"precision", precision_name(p.precision)},
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
    std::printf("| %-9s | %s | %-18s | %12.1f | %10.1f |", precision_name(p.precision), trans_name(p).c_str(),
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
  cli.options()("precision", po::value<std::string>(), "single, double or single,double (default)");
  cli.options()("sizes", po::value<std::string>(), "N or MxNxK, separated by commas; default 512,1024,2048");
  cli.options()("trans", po::value<std::string>(), "nn, nt, tn, tt, separated by commas; default nn");
  cli.options()("peer", po::value<std::string>(), "openblas, clblast, separated by commas; default: none");
  cli.options()("rounds", po::value<std::string>(), "default 5");
  cli.options()("variant", po::value<std::string>(), "use this variant instead of the profile's choice");
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
    Result<std::unique_ptr<Peer>> peer = make_peer(name, *device, *session);
    if (!peer) return fail("bench gemm", peer.status().within("--peer"));
    peers.push_back(std::move(*peer));
  }

  GemmBench bench(*device, *session, *library, std::move(peers), rounds, cli.text("variant"));
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
        bar.show(++done, total, std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k));
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
  if (which == "cold") return bench_cold(rest);
  if (which == "gemm") return bench_gemm(rest);
  if (which == "--help" || which == "-h") {
    std::printf("usage: clbake bench cold FILE [OPTIONS]\n       clbake bench gemm FILE [OPTIONS]\n");
    return kSuccess;
  }
  throw UsageError(which.empty() ? "what to measure is missing: cold or gemm"
                                 : "'" + which + "' is neither cold nor gemm");
}

}  // namespace clbake::tool
