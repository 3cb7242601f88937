// Whether the runtime chose well for one problem, and how long it took it to choose.
#pragma once

#include "bench/workbench.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::tool {

struct ChoiceTrial {
  Problem problem;
  std::size_t variants = 0;  // of the bundle that were timed
  std::string choice;        // the runtime's
  std::string best;          // the fastest that was found; the choice itself when none is faster
  double choice_us = 0;      // medians of one call, to its end
  double best_us = 0;
  double ratio = 1;  // time of the best over the choice's, the median over the rounds; at most 1
};

// Times every variant of the bundle that the library loads for the row-major problem, in turns, and then once more the
// fastest three and the choice, in twice the rounds: the fastest of many is the luckiest as well, so only these later
// turns count. They are compared round by round: a machine that is slower for a while is so for all of a round. A
// variant that is more than three times slower than the fastest drops out after its first turn. The results are not
// checked: they were when the bundle was built.
Result<ChoiceTrial> try_choice(const Workbench& bench, const Problem& problem, std::size_t rounds);

// What choosing a variant takes, all that `prepare` does before it looks for the program.
struct Choosing {
  double ns = 0;          // for one problem; the median over several passes
  std::size_t rules = 0;  // of the profile
};

// Chooses for each of the row-major problems, again and again. Fails as `prepare` does.
Result<Choosing> time_choosing(const Bundle& bundle, const Target& device, const std::vector<Problem>& problems);

}  // namespace clbake::tool
