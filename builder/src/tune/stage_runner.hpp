// Runs one stage: requests go out to the timing pool or are answered by the journal; results come back to the journal,
// and to the timing table in the order of their requests.
//
// Results are taken in by generations of 16: a request may use the results of all generations but the one before its
// own. So compiling need not wait for timing, and equal measurements still give equal searches, with 1 process or 16.
#pragma once

#include "tune/journal.hpp"
#include "tune/results.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace clbake::builder {

// What all stages of a search share.
struct SearchContext {
  const TuneOptions& options;
  const TuneClock& clock;
  Journal& journal;
  TimingPool& pool;
  Results& results;

  const Device& device() const { return options.devices.front(); }
  double budget_s() const;  // infinity where there is none
};

class StageRunner {
 public:
  // The request of this number, from 0 on; nothing: the stage ends. `best_us` is filled in by the runner.
  using MakeRequest = std::function<std::optional<TimingRequest>(std::size_t number)>;
  // The order for the request's shape of this index, after the result so far; nothing: the request ends.
  using MakeOrder =
      std::function<std::optional<TimingOrder>(const TimingRequest&, std::size_t shape, const TimingResult& so_far)>;

  StageRunner(SearchContext& context, const StageId& stage, double until, MakeRequest make_request,
              MakeOrder make_order);

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
  void done(Pending& pending, std::size_t number, TimingResult&& result);
  void take_in_until(std::size_t end);

  SearchContext& context_;
  StageId stage_;
  double until_;
  MakeRequest make_request_;
  MakeOrder make_order_;
  std::vector<Pending> pending_;      // by number
  std::vector<std::size_t> in_pool_;  // the numbers of those that the pool has seen
  std::size_t taken_ = 0;             // so many are taken in
  Status journal_status_;
};

}  // namespace clbake::builder
