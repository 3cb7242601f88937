// Takes in the results of timing: fills the timing table, excludes what failed, reports progress.
#pragma once

#include "tune/journal.hpp"
#include "tune/schedule.hpp"
#include "tune/timing/timing_pool.hpp"
#include "tune/timing_table.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

class Results {
 public:
  // `clock` and `progress` must outlive it; `progress` may be empty.
  Results(std::chrono::seconds timeout, const TuneClock& clock,
          const std::function<void(const TuneProgress&)>& progress)
      : timeout_(timeout), clock_(clock), progress_(progress) {}

  TimingTable table;

  // What follows belongs to this stage.
  void enter(const StageId& stage);

  void count_tried(const std::string& variant);
  bool tried(const std::string& variant) const { return tried_.count(variant) > 0; }

  // The result of a request, `at_s` seconds after the search began.
  void take_in(const TimingRequest& request, const TimingResult& result, double at_s);

  // Excludes a variant and its earlier timings: one that is wrong on a shape is not trusted with others.
  void fail(const std::string& variant, const std::string& cause);

  // No variant of a final race finished the shape in time.
  void no_racer_finished(std::uint32_t shape) { late_[shape]; }
  // Variants timed out on the shape, and none has finished it.
  bool too_slow(std::uint32_t shape) const { return late_.count(shape) > 0 && table.best(shape) <= 0; }

  void report(const std::string& failure = {});

  // Why nothing could be measured.
  Status nothing_measured() const;

 private:
  // A variant has finished the shape: those that timed out on it fail.
  void blame_late(std::uint32_t shape);

  std::chrono::seconds timeout_;
  const TuneClock& clock_;
  const std::function<void(const TuneProgress&)>& progress_;
  // By shape, the variants that timed out on it before any finished it. Such a shape may be too slow for the device;
  // once a variant finishes it, these are to blame.
  std::map<std::uint32_t, std::vector<std::string>> late_;
  std::set<std::string> tried_;
  Stage stage_ = Stage::explore;
  TuneProgress now_;  // as last reported
};

}  // namespace clbake::builder
