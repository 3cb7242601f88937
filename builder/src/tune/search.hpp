// The search for the best variants of a device.
#pragma once

#include "tune/propose/proposals.hpp"
#include "tune/race.hpp"

namespace clbake::builder::tune {

class Search {
 public:
  // All must outlive it; `progress` may be empty.
  Search(const TuneOptions& options, Journal& journal, const std::atomic<bool>& cancel,
         const std::function<void(const TuneProgress&)>& progress);

  // The measurements and the prior; not complete when it was cancelled. Throws Failure with io, or with build_failed
  // when nothing could be measured.
  profile::Tuning run();

 private:
  // A precision and a pair of transposes with the shapes that are timed for it: indices into Tuning::shapes.
  struct Kind {
    GemmKind kind;
    std::vector<std::uint32_t> list, grid, probes;
  };

  void add_prior();
  Kind shapes_of(const GemmKind& kind);
  void search_precision(const std::vector<Kind>& kinds, double begin, double end);
  void explore(const Kind& kind, double until);
  void range(const Kind& kind, const std::vector<kernels::Params>& list, double until);
  void refine(const Kind& kind, double until);
  std::vector<kernels::Params> best_of_probes(const Kind& kind) const;
  std::vector<kernels::Params> best_of_another(const Kind& other, const GemmKind& kind) const;
  std::vector<Racer> finalists(const Kind& kind);
  void final_races(const std::vector<Kind>& kinds);

  TuneClock clock_;
  Results results_;
  TimingProcesses processes_;
  SearchContext context_;
  Proposals proposals_;
};

}  // namespace clbake::builder::tune
