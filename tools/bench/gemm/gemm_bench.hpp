// Products of a bundle and of its peers, timed in turns: what `bench gemm` does.
#pragma once

#include "bench/bench_device.hpp"
#include "bench/peers/peers.hpp"
#include "report/gemm_report.hpp"

#include <set>
#include <string>
#include <vector>

namespace clbake::tool {

struct GemmBench {
  BenchDevice on;
  std::vector<Served> bundles;  // the measured one, and perhaps another one to compare with
  std::vector<std::unique_ptr<Peer>> peers;
  GemmReport report = {};
  bool lacks_kinds = false;          // of a bundle: some problems were left out
  std::set<std::string> noted = {};  // in report.missing

  // Adds to the report a row for each peer, or one without a peer, of this variant, or of the profile's choice if the
  // name is empty. What a bundle or a peer does not have is noted in the report and left out. Throws Failure for a
  // wrong result, and with what the runtime or a peer says.
  void measure(const Problem& problem, const std::string& variant);
};

}  // namespace clbake::tool
