// Runs one stage: requests go out to the timing pool or are answered by the journal; results come back to the journal,
// and to the timing table in the order of their requests.
//
// Results are taken in by generations of 16: a request may use the results of all generations but the one before its
// own. So compiling need not wait for timing, and equal measurements still give equal searches, with 1 process or 16.
#pragma once

#include "tune/journal.hpp"
#include "tune/results.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace clbake::builder {

// A precision and a pair of transposes with the shapes that are timed for it: indices into Tuning::shapes.
struct KindShapes {
  GemmKind kind;
  std::vector<std::uint32_t> list;
  std::vector<std::uint32_t> grid;
  std::vector<std::uint32_t> probes;
};

// What all stages of a search share.
struct SearchContext {
  const TuneOptions& options;
  TuneClock& clock;
  Journal& journal;
  TimingPool& pool;
  Results& results;

  const Device& device() const { return options.devices.front(); }
  double budget_s() const;  // infinity where there is none
};

// When a variant gets no more time, in multiples of the best median known when it was requested.
struct EarlyStops {
  double first_call;  // a call on the first shape that takes longer is the last of its order ...
  double call;        // ... and one on the other shapes
  // A variant whose median on a shape is longer is not timed on the next one.
  double variant = std::numeric_limits<double>::infinity();
};

class StageRunner {
 public:
  // The request of this number, from 0 on; nothing: the stage ends. `best_us` is filled in by the runner.
  using MakeRequest = std::function<std::optional<TimingRequest>(std::size_t number)>;

  StageRunner(SearchContext& context, const StageId& stage, double until, const EarlyStops& stops,
              MakeRequest make_request);

  // Until there are no more requests, or until the clock says `until`. Fails with cancelled or io.
  Status run();

 private:
  struct Pending {
    TimingRequest request;
    std::optional<TimingResult> result;
    double at_s = 0;
  };

  TimingPool::Next next(TimingRequest& request);
  bool generation_known(std::size_t number);
  std::optional<TimingOrder> order(const TimingRequest& request, std::size_t shape, const TimingResult& so_far) const;
  void done(const TimingRequest& request, TimingResult&& result);
  void take_in_until(std::size_t end);

  SearchContext& context_;
  StageId stage_;
  double until_;
  EarlyStops stops_;
  MakeRequest make_request_;
  std::vector<Pending> pending_;  // by number
  std::size_t taken_ = 0;         // so many are taken in
  Status journal_status_;
};

}  // namespace clbake::builder
