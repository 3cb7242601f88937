// The search for the best variants of a device.
#pragma once

#include "tune/final_race.hpp"
#include "tune/stages.hpp"

#include <vector>

namespace clbake::builder {

// Runs the stages of every precision within the budget, and returns what was measured.
class Search {
 public:
  // All must outlive it; `progress` may be empty.
  Search(const TuneOptions& options, Journal& journal, const std::atomic<bool>& cancel,
         const std::function<void(const TuneProgress&)>& progress);

  // A Tuning without winners, and with the prior; not complete when it was cancelled. Fails with io, or
  // with build_failed when nothing could be measured.
  Result<Tuning> run();

 private:
  void keep_short_ones(KindShapes& shapes) const;
  KindShapes shapes_of(const GemmKind& kind);
  Status search_precision(const std::vector<KindShapes>& pairs, double begin, double end);
  void add_prior();
  Status race_all(const std::vector<KindShapes>& pairs, double end);
  Status race_again(const std::vector<std::vector<KindShapes>>& precisions);

  TuneClock clock_;
  TimingPool pool_;
  Results results_;
  SearchContext context_;
  Proposals proposals_;
  Stages stages_;
  FinalRaces races_;
};

}  // namespace clbake::builder
