// What the benchmarks share: timing in turns, and figures of it.
#pragma once

#include <clbake/clbake.hpp>

#include "cli/arguments.hpp"

#include <functional>
#include <string>
#include <vector>

namespace clbake::tool {

std::string trans_name(const Problem& problem);  // "tn"

// One who runs the same thing again and again, and the microseconds of each time.
struct Contender {
  std::function<Status()> once;
  std::vector<double> times;
};

// Everyone takes a turn in each round; the first turn warms up and is not counted.
Status race(std::vector<Contender>& contenders, std::size_t rounds);

double gflops(const Problem& problem, double us);

}  // namespace clbake::tool
