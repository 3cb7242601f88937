#include "report/gemm_report.hpp"

#include "bench/alternate.hpp"
#include "cli/cli.hpp"

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

// How many times as fast as the peer.
double ratio(const GemmRow& row) { return row.peer_us / row.us; }
bool same_variant(const GemmRow& row) { return row.variant == row.peer_variant; }

struct PeerMean {
  std::string peer;
  std::vector<double> ratios;
};

// In the order in which peers first appear.
std::vector<PeerMean> ratios_by_peer(const std::vector<GemmRow>& rows) {
  std::vector<PeerMean> means;
  for (const GemmRow& row : rows) {
    if (row.peer.empty()) continue;
    auto mean = std::find_if(means.begin(), means.end(), [&](const PeerMean& m) { return m.peer == row.peer; });
    if (mean == means.end()) mean = means.insert(means.end(), {row.peer, {}});
    mean->ratios.push_back(ratio(row));
  }
  return means;
}

Json to_json(const GemmRow& row) {
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
          {"ratio", alone ? Json() : Json(ratio(row))},
          {"error", row.error}};
}

void print_row(const GemmRow& row, int width) {
  const Problem& p = row.problem;
  const std::string size = std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k);
  std::printf("| %-9s | %s | %-18s | %12.1f | %10.1f |", clbake::name(p.precision), trans_name(p).c_str(), size.c_str(),
              row.us, gflops(p, row.us));
  if (row.peer.empty()) {
    std::printf(" %-*s | %13s | %6s |\n", width, "-", "-", "-");
  } else {
    std::printf(" %-*s | %13.1f | %6.2f%c|\n", width, row.peer.c_str(), gflops(p, row.peer_us), ratio(row),
                same_variant(row) ? '=' : ' ');
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
          {"rounds", report.rounds},
          {"rows", rows},
          {"geometric_means", means},
          {"missing", report.missing}};
}

void print_text(const GemmReport& report) {
  std::printf("%s; driver %s; medians over %s in turns; ratio > 1: clbake is faster\n\n",
              report.target.device_name.c_str(), report.target.driver_version.c_str(),
              counted(report.rounds, "round").c_str());
  int width = 9;
  for (const GemmRow& row : report.rows) width = std::max(width, static_cast<int>(row.peer.size()));
  std::printf("| precision | op | %-18s | %12s | %10s | %*s | %13s | %6s |\n", "m x n x k", "median us", "GFLOP/s",
              width, "peer", "peer GFLOP/s", "ratio");
  std::printf("|-----------|----|--------------------|-------------:|-----------:|%s|--------------:|-------:|\n",
              std::string(static_cast<std::size_t>(width) + 2, '-').c_str());
  for (const GemmRow& row : report.rows) print_row(row, width);
  if (std::any_of(report.rows.begin(), report.rows.end(), same_variant)) {
    std::printf(
        "\n= both bundles choose the same variant: what differs is noise, unless they hold different builds of it\n");
  }
  for (const PeerMean& mean : ratios_by_peer(report.rows)) {
    std::printf("\ngeometric mean of %s against %s: %.2f\n", counted(mean.ratios.size(), "ratio").c_str(),
                mean.peer.c_str(), geometric_mean(mean.ratios));
  }
}

}  // namespace clbake::tool
