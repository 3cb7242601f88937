// Results of `bench gemm`, for people and for programs.
#pragma once

#include "cli/json.hpp"

#include <string>
#include <vector>

namespace clbake::tool {

// One problem, and what it was compared with. A problem with several peers has a row for each.
struct GemmRow {
  Problem problem;
  std::string variant;
  double us = 0;             // median of one call, to its end
  double error = 0;          // the largest, on the scale of the tolerance
  std::string peer;          // empty: none
  std::string peer_variant;  // of a peer that is a bundle
  double peer_us = 0;
  bool same_build = false;  // of a peer that is a bundle: the same program, so that what differs is noise
};

struct GemmReport {
  Target target;
  std::size_t rounds = 0;
  std::vector<GemmRow> rows;
  std::vector<std::string> missing;  // what could not be measured, and why: a line each
};

Json to_json(const GemmReport& report);

// The table and, for each peer, the geometric mean of its ratios; not `missing`.
void print_text(const GemmReport& report);

}  // namespace clbake::tool
