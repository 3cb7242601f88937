// Products of a bundle and of its peers, timed in turns: what `bench gemm` does.
#pragma once

#include "bench/bench_device.hpp"
#include "bench/peers/peers.hpp"
#include "report/gemm_report.hpp"

#include <set>
#include <string>
#include <vector>

namespace clbake::tool {

// A bundle that serves what was baked: nothing is compiled from source.
struct Served {
  std::string name;  // of the file, for the table and messages
  Bundle bundle;
  Library library;
};

Result<Served> serve(const BenchDevice& on, const Bundle& bundle, const std::string& file);

class GemmBench {
 public:
  // `bundles`: the measured one, and perhaps another one to compare with.
  GemmBench(const BenchDevice& on, const std::vector<Served>& bundles, const std::vector<std::unique_ptr<Peer>>& peers,
            std::size_t rounds);

  // Adds to the report a row for each peer, or one without a peer, of this variant, or of the profile's choice if the
  // name is empty. What a bundle or a peer does not have is noted in the report and left out. Fails with wrong_result,
  // or with what the runtime or a peer says.
  Status measure(const Problem& problem, const std::string& variant);

  GemmReport report;
  bool lacks_kinds = false;  // of a bundle: some problems were left out

 private:
  // A bundle's kernels for the problem.
  struct Entrant {
    std::string bundle;
    Gemm gemm;
    double error;
  };

  Result<std::vector<Entrant>> entrants(const Problem& problem, const std::string& variant);
  Result<std::vector<Peer*>> peers_for(const Problem& problem);
  void note_missing(const std::string& name, const std::string& part, const std::string& cause);
  bool same_build(const std::string& variant) const;

  const BenchDevice& on_;
  const std::vector<Served>& bundles_;
  const std::vector<std::unique_ptr<Peer>>& peers_;
  std::set<std::string> noted_;
};

}  // namespace clbake::tool
