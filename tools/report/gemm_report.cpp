#include "report/gemm_report.hpp"

#include "bench/alternate.hpp"
#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/table.hpp"

#include <cstdio>

namespace clbake::tool {
namespace {

// How many times as fast as the peer.
double ratio(const GemmRow& row) { return row.peer_us / row.us; }

Json to_json(const GemmRow& row) {
  const Problem& p = row.problem;
  const bool alone = row.peer.empty(), fused = p.epilogue.bias != Bias::none;
  return {{"precision", clbake::name(p.precision)},
          {"trans", trans_name(p)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"batch", p.batch},
          {"activation", fused ? Json(activation_words[static_cast<std::size_t>(p.epilogue.activation)]) : Json()},
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

// In the order in which peers first appear. The same program on both sides is no comparison.
Json means_json(const std::vector<GemmRow>& rows) {
  Json means = Json::array();
  std::vector<std::vector<double>> ratios;
  for (const GemmRow& row : rows) {
    if (row.peer.empty() || row.same_build) continue;
    std::size_t i = 0;
    while (i < means.size() && means[i]["peer"] != row.peer) ++i;
    if (i == means.size()) means.push_back({{"peer", row.peer}}), ratios.emplace_back();
    ratios[i].push_back(ratio(row));
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i].update({{"ratio", geometric_mean(ratios[i])}, {"rows", ratios[i].size()}});
  }
  return means;
}

}  // namespace

Json to_json(const GemmReport& report) {
  Json rows = Json::array();
  for (const GemmRow& row : report.rows) rows.push_back(to_json(row));
  return {{"device", report.target.device_name},
          {"driver", report.target.driver_version},
          {"rounds", report.rounds},
          {"rows", std::move(rows)},
          {"geometric_means", means_json(report.rows)},
          {"missing", report.missing}};
}

void print_text(const GemmReport& report) {
  std::printf("%s; driver %s; medians over %s in turns; ratio > 1: clbake is faster\n\n",
              report.target.device_name.c_str(), report.target.driver_version.c_str(),
              counted(report.rounds, "round").c_str());
  Json json = to_json(report);
  bool same = false;
  for (Json& row : json["rows"]) {
    if (row["same_build"] == false) continue;
    row["ratio"] = "same";
    same = true;
  }
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
              json["rows"]);
  if (same) std::printf("\nsame: both bundles run the same program, so the two speeds differ by noise\n");
  for (const Json& mean : json["geometric_means"]) {
    std::printf("\ngeometric mean of %s against %s: %.2f\n", counted(mean["rows"].get<std::size_t>(), "ratio").c_str(),
                mean["peer"].get<std::string>().c_str(), mean["ratio"].get<double>());
  }
}

}  // namespace clbake::tool
