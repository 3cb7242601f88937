// The stages that explore: what each one asks to be timed. search.cpp says in which order and why.
#pragma once

#include "tune/propose/proposals.hpp"
#include "tune/stage_runner.hpp"

namespace clbake::builder {

// All stages run until the clock says `until`, and fail with cancelled or io.
class Stages {
 public:
  Stages(SearchContext& context, Proposals& proposals)
      : context_(context), proposals_(proposals), table_(context.results.table) {}

  // Many variants on the probes: known good ones, then neighbours of the fastest and random points.
  Status explore(const KindShapes& shapes, double until);

  // The best of the probes on all shapes of the list.
  Status range(const KindShapes& shapes, double until);

  // Neighbours of the best of each shape in turn, on that shape.
  Status refine(const KindShapes& shapes, double until);

  // What is good for one pair of transposes, on the shapes of another.
  Status carry_over(const KindShapes& from, const KindShapes& to, double until);

 private:
  std::vector<std::uint32_t> best_of_probes(const KindShapes& shapes) const;
  std::vector<Shape> shapes_of(const std::vector<std::uint32_t>& indices) const;

  SearchContext& context_;
  Proposals& proposals_;
  TimingTable& table_;
};

}  // namespace clbake::builder
