// The quality of the runtime's choice for one problem, and the time that it took.
#pragma once

#include "bench/bench_device.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace clbake::tool {

struct ChoiceTiming {
  Problem problem;
  std::map<std::string, double> us;  // of one call of each variant that was timed: the median of its turns
  std::string choice;                // the runtime's
  std::string best;                  // the fastest of all rounds; the choice itself when none is faster
  double choice_us = 0;
  double best_us = 0;
  double ratio = 1;  // the best one's time over the choice's
};

// Times every variant of the contenders that their library loads for the row-major problem, in turns: a slow moment of
// the machine meets all of them. A variant other than the choice that is more than three times slower than the fastest
// drops out after its first turn. The fastest of many is also the luckiest, so that the ratio is a little less than it
// should be; more rounds help. The results of small products are checked. The first of the contenders chooses. Throws
// Failure.
ChoiceTiming time_choice(const BenchDevice& on, const std::vector<Served>& contenders, const Problem& problem,
                         std::size_t rounds);

// Nanoseconds that choosing a variant takes, which `prepare` does before it looks for the program: the median of
// several passes over the row-major problems. Throws Failure, also for a bundle without a profile for the device;
// `file` is its.
double time_choosing(const Bundle& bundle, const std::string& file, const Target& device,
                     const std::vector<Problem>& problems);

}  // namespace clbake::tool
