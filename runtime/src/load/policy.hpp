// Which program serves a request: that of the first tier (select/tiers.hpp) that has one for a candidate. With
// OnMiss::fallback the wanted program is compiled behind a stand-in: machine code for an older driver that passes a
// check, or another variant.
#pragma once

#include "load/program_store.hpp"

#include <atomic>
#include <vector>

namespace clbake {

// All members may be called by any number of threads at once. No lock is held across a call of a driver, the log or a
// bundle.
class Policy {
 public:
  // All three must outlive it, and end their work for it first.
  Policy(const Setup& setup, Background& background, Tally& tally);

  // A program for the request; counts and logs a miss. The caller counts a failure (count_failure).
  Result<Found> find(const Request& request);

  // Tells what `find` would do now, without loading or counting; with OnMiss::fallback: what its later calls will do.
  Result<Explanation> explain(const Request& request) const;

  // Counts and logs a call that failed, for whatever reason.
  void count_failure(const Status& failure);

  // Grows whenever a program is ready that an earlier `find` had to do without.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  // By the tiers from `from` on; sets `miss` to why there is no machine code for exactly this device and driver.
  Result<Found> serve(const Request& request, Tier from, Status& miss);
  Result<Found> load(const Request& request, Tier tier);  // a candidate's program of the tier
  Result<Found> compiled(const Request& request);
  // OnMiss::fallback
  Result<Found> serve_fallback(const Request& request);
  Result<Found> any_baked(const Request& request);
  bool may_fall_back(const Request& request) const;
  void tell_of_waiting(const Request& request, const Status& miss) const;
  void prepare_async(const Request& request);
  bool start_compiling(const Candidate& candidate);
  void forget_compiling(const Candidate& candidate);

  Result<Found> find_one(const Request& request);
  Result<Explanation> explain_one(const Request& request) const;
  Result<Explanation> explain(const Request& request, Tier tier) const;
  Result<Explanation> explain(const Request& request, const Candidate& candidate, Tier tier) const;
  std::string name_of(const Candidate& candidate) const;  // the variant's

  const Setup& setup_;
  Background& background_;
  Tally& tally_;
  std::vector<Tier> tiers_;  // that the library's options allow
  std::atomic<std::uint64_t> epoch_{0};
  std::mutex mutex_;                  // guards compiling_
  std::vector<Candidate> compiling_;  // queued for the background, running there, or done
  ProgramStore store_;
};

}  // namespace clbake
