// Which program serves a request: the tiers in their order, then what Options::on_miss says.
//
//   1. machine code for exactly this device and driver, of any bundle
//   2. NVIDIA: machine code that this driver made for another device of the architecture
//   3. machine code for an older driver, when Options::newer_driver allows it
//   4. with OnMiss::fallback, unless a later tier has it already, what needs no compiler: machine code for an older
//      driver that passes a check, then another variant, while the library's thread compiles the wanted one
//   5. a portable program, which the driver compiles
//   6. the overlay
//   7. on_miss: fail with the reason, or compile
//
// A tier is tried for all bundles before the next one: how little is left to compile counts, not the order of the
// bundles.
#pragma once

#include "load/program_store.hpp"

#include <set>

namespace clbake {

// All members may be called by any number of threads at once. No lock is held across a call of a driver, the log or a
// bundle.
class Policy {
 public:
  explicit Policy(const Setup& setup) : setup_(setup), store_(setup, background_, counters_) {}

  // A program for the request; counts and logs a miss. The caller counts a failure (count_failure).
  Result<Found> find(const Request& request);

  // What `find` would do now, without loading or counting anything; with OnMiss::fallback: what its later calls will.
  Result<Explanation> explain(const Request& request) const;

  // Counts and logs a call that failed, for whatever reason.
  void count_failure(const Status& failure);

  AtomicCounters& counters() { return counters_; }

  // Grows whenever a program is ready that an earlier `find` had to do without.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  void finish() { background_.finish(); }

 private:
  Result<Found> serve(const Request& request, Status& miss);
  Result<Found> baked(const Request& request, Tier tier, Status& miss);
  Result<Found> overlaid(const Request& request);
  Result<Found> compiled(const Request& request);
  Result<Found> any_compiled(const Request& request, const Status& failure);
  // OnMiss::fallback
  Result<Found> serve_fallback(const Request& request);
  Result<Found> any_baked(const Request& request);
  bool may_fall_back(const Request& request) const;
  static std::string reason_of_stand_in(const Explanation& e);
  void tell_of_waiting(const Request& request, const Status& miss) const;
  Result<Found> wanted(const Request& request);
  void prepare_async(const Request& request);
  void forget_compiling(const Candidate& candidate);
  // explain.cpp
  Result<Explanation> explain_baked(const Request& request, const Candidate& candidate, Tier tier) const;
  Result<Explanation> explain_miss(const Request& request, const Candidate& candidate, Tier tier) const;

  const Setup& setup_;
  AtomicCounters counters_;
  std::atomic<std::uint64_t> epoch_{0};
  std::mutex mutex_;               // guards compiling_
  std::set<Candidate> compiling_;  // queued for the background, running there, or done
  ProgramStore store_;
  Background background_;  // last, so that it stops first: its work uses all of the above
};

}  // namespace clbake
