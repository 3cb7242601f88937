// Products of a bundle and of its peers, timed in turns: what `bench gemm` does.
#pragma once

#include "bench/bench.hpp"
#include "bench/peers/peers.hpp"
#include "cli/json.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clbake::tool {

struct GemmBench {
  BenchDevice on;
  std::vector<Served> bundles;  // the measured one, and perhaps another one to compare with
  std::vector<std::unique_ptr<Peer>> peers;
  std::size_t rounds = 0;
  Json rows = Json::array();
  std::map<std::string, std::string> missing = {};  // bundle or peer and what it lacks; why
  bool lacks_kinds = false;                         // of a bundle: some problems were left out

  // Adds a row for each peer, or one without a peer, of this variant, or of the profile's choice if the name is empty.
  // What a bundle or a peer does not have is noted in `missing` and left out. Throws Failure for a wrong result, and
  // with what the runtime or a peer says.
  void measure(const Problem& problem, const std::string& variant);
};

}  // namespace clbake::tool
