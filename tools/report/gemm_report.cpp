#include "report/gemm_report.hpp"

#include "bench/alternate.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

// How many times as fast as the peer.
double ratio(const GemmRow& row) { return row.peer_us / row.us; }

struct PeerMean {
  std::string peer;
  std::vector<double> ratios;
};

// In the order in which peers first appear. The same program on both sides is no comparison.
std::vector<PeerMean> ratios_by_peer(const std::vector<GemmRow>& rows) {
  std::vector<PeerMean> means;
  for (const GemmRow& row : rows) {
    if (row.peer.empty() || row.same_build) continue;
    auto mean = std::find_if(means.begin(), means.end(), [&](const PeerMean& m) { return m.peer == row.peer; });
    if (mean == means.end()) mean = means.insert(means.end(), {row.peer, {}});
    mean->ratios.push_back(ratio(row));
  }
  return means;
}

// "relu"; empty for a product without an epilogue.
std::string activation_of(const Problem& p) {
  return p.epilogue.bias == Bias::none ? "" : activation_words[static_cast<std::size_t>(p.epilogue.activation)];
}

Json to_json(const GemmRow& row) {
  const Problem& p = row.problem;
  const bool alone = row.peer.empty();
  return {{"precision", clbake::name(p.precision)},
          {"trans", trans_name(p)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"batch", p.batch},
          {"activation", activation_of(p).empty() ? Json() : Json(activation_of(p))},
          {"variant", row.variant},
          {"median_us", row.us},
          {"gflops", gflops(p, row.us)},
          {"peer", alone ? Json() : Json(row.peer)},
          {"peer_variant", row.peer_variant.empty() ? Json() : Json(row.peer_variant)},
          {"peer_gflops", alone ? Json() : Json(gflops(p, row.peer_us))},
          {"ratio", alone ? Json() : Json(ratio(row))},
          {"same_build", row.same_build},
          {"error", row.error}};
}

std::string size_of(const Problem& p) {
  const std::string size = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
  return p.batch > 1 ? size + ", " + std::to_string(p.batch) : size;
}

std::string operation_of(const Problem& p) {
  const std::string activation = activation_of(p);
  return activation.empty() ? trans_name(p) : trans_name(p) + " " + activation;
}

struct Widths {
  int operation = 2;
  int size = 18;
  int peer = 9;
};

void print_row(const GemmRow& row, const Widths& width) {
  const Problem& p = row.problem;
  std::printf("| %-9s | %-*s | %-*s | %12.1f | %10.1f |", clbake::name(p.precision), width.operation,
              operation_of(p).c_str(), width.size, size_of(p).c_str(), row.us, gflops(p, row.us));
  if (row.peer.empty()) {
    std::printf(" %-*s | %13s | %6s |\n", width.peer, "-", "-", "-");
  } else if (row.same_build) {
    std::printf(" %-*s | %13.1f | %6s |\n", width.peer, row.peer.c_str(), gflops(p, row.peer_us), "same");
  } else {
    std::printf(" %-*s | %13.1f | %6.2f |\n", width.peer, row.peer.c_str(), gflops(p, row.peer_us), ratio(row));
  }
}

}  // namespace

Json to_json(const GemmReport& report) {
  Json rows = Json::array();
  for (const GemmRow& row : report.rows) rows.push_back(to_json(row));
  Json means = Json::array();
  for (const PeerMean& mean : ratios_by_peer(report.rows)) {
    means.push_back({{"peer", mean.peer}, {"ratio", geometric_mean(mean.ratios)}, {"rows", mean.ratios.size()}});
  }
  return {{"device", report.target.device_name},
          {"driver", report.target.driver_version},
          {"rounds", report.rounds},
          {"rows", rows},
          {"geometric_means", means},
          {"missing", report.missing}};
}

void print_text(const GemmReport& report) {
  std::printf("%s; driver %s; medians over %s in turns; ratio > 1: clbake is faster\n\n",
              report.target.device_name.c_str(), report.target.driver_version.c_str(),
              counted(report.rounds, "round").c_str());
  Widths width;
  bool batched = false;
  for (const GemmRow& row : report.rows) {
    width.operation = std::max(width.operation, static_cast<int>(operation_of(row.problem).size()));
    width.size = std::max(width.size, static_cast<int>(size_of(row.problem).size()));
    width.peer = std::max(width.peer, static_cast<int>(row.peer.size()));
    batched = batched || row.problem.batch > 1;
  }
  const auto line = [](int length) { return std::string(static_cast<std::size_t>(length) + 2, '-'); };
  std::printf("| precision | %-*s | %-*s | %12s | %10s | %*s | %13s | %6s |\n", width.operation, "op", width.size,
              batched ? "m x n x k, batch" : "m x n x k", "median us", "GFLOP/s", width.peer, "peer", "peer GFLOP/s",
              "ratio");
  std::printf("|-----------|%s|%s|-------------:|-----------:|%s|--------------:|-------:|\n",
              line(width.operation).c_str(), line(width.size).c_str(), line(width.peer).c_str());
  for (const GemmRow& row : report.rows) print_row(row, width);
  const auto is_same = [](const GemmRow& row) { return row.same_build; };
  if (std::any_of(report.rows.begin(), report.rows.end(), is_same)) {
    std::printf("\nsame: both bundles run the same program, so the two speeds differ by noise\n");
  }
  for (const PeerMean& mean : ratios_by_peer(report.rows)) {
    std::printf("\ngeometric mean of %s against %s: %.2f\n", counted(mean.ratios.size(), "ratio").c_str(),
                mean.peer.c_str(), geometric_mean(mean.ratios));
  }
}

}  // namespace clbake::tool
