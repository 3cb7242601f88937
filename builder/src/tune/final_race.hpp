// The final races: the few variants that may win are timed in turns with each other, on all shapes.
//
// Measurements of different minutes differ by more than variants do: clocks change, other programs run. So the last
// comparison is made in turns, one order of each variant in each round: a slow second of the machine slows all of them.
// What was measured in a race replaces what was measured before, and decides (profile/fit.cpp).
#pragma once

#include "tune/propose/proposals.hpp"
#include "tune/stage_runner.hpp"

#include <map>
#include <set>
#include <vector>

namespace clbake::builder {

class FinalRaces {
 public:
  FinalRaces(SearchContext& context, const Proposals& proposals) : context_(context), proposals_(proposals) {}

  // The race of this pass, or what is left of it: pass 0 on the list and the grid, with three rounds; later passes on
  // the list only, with five, which make the figures better. Ends with its part of `time`. Fails with cancelled or io.
  Status race(const KindShapes& shapes, std::size_t pass, const SharedTime& time);

 private:
  std::vector<std::uint32_t> choose_racers(const KindShapes& shapes) const;

  SearchContext& context_;
  const Proposals& proposals_;
  std::map<std::pair<GemmKind, std::size_t>, std::vector<std::uint32_t>> racers_;  // by kind and pass
  std::set<std::pair<std::size_t, std::uint32_t>> done_;                           // pass and shape
};

}  // namespace clbake::builder
