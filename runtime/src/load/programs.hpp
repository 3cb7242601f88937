// The programs of a library: where each comes from, loaded once.
#pragma once

#include "load/background.hpp"
#include "load/counters.hpp"
#include "load/load_once.hpp"
#include "overlay/overlay_store.hpp"
#include "select/eligible_entries.hpp"

#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

namespace clbake {

// A variant of one of the library's bundles.
struct Candidate {
  std::size_t bundle = 0;
  std::uint32_t variant = 0;
};
bool operator<(const Candidate& a, const Candidate& b);

// What to find a program for.
struct Request {
  Problem problem;                    // row-major
  std::vector<Candidate> candidates;  // the variant that each bundle would use, in the order of the bundles; not empty
  bool named = false;                 // asked for by name: no other variant will do
};

struct Found {
  std::shared_ptr<const Program> program;
  Explanation explanation;
};

// All members may be called by any number of threads at once. No lock is held across a call of a driver, the log or a
// bundle.
class Programs {
 public:
  Programs(cl::Context context, cl::Device device, Target target, const std::vector<Bundle>& bundles, Options options);

  const cl::Context& context() const { return context_; }
  const cl::Device& device() const { return device_; }
  const Target& target() const { return target_; }
  const std::vector<DeviceBundle>& bundles() const { return bundles_; }
  AtomicCounters& counters() { return counters_; }

  // The candidates for a row-major problem, or for a variant by name. Fails with no_variant.
  Result<Request> request(const Problem& rows, const std::string& name) const;

  // A program for the request, by the library's policy; counts and reports it.
  Result<Found> find(const Request& request);

  // What `find` would do now, without loading or counting anything; with OnMiss::fallback: what its later calls will.
  Result<Explanation> explain(const Request& request) const;

  // Grows when a program is there that an earlier `find` had to do without.
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  void finish() { background_.finish(); }

 private:
  struct Key {
    Candidate candidate;
    Tier tier;
    bool operator<(const Key& o) const {
      return std::tie(candidate.bundle, candidate.variant, tier) <
             std::tie(o.candidate.bundle, o.candidate.variant, o.tier);
    }
  };

  std::shared_ptr<LoadOnce> slot(const Key& key);
  std::shared_ptr<LoadOnce> slot_if_any(const Key& key) const;
  Result<Found> from(const Candidate& candidate, Tier tier);
  Result<Program> load(const Candidate& candidate, Tier tier);
  void launch_once(Program& program) const;
  Result<Program> load_baked(const Candidate& candidate, Tier tier);
  Result<Found> overlaid(const Request& request, const Status& miss);
  // overlay_use.cpp
  Result<OverlayKey> key_of(const Candidate& candidate) const;
  Result<Program> load_overlaid(const Candidate& candidate);
  bool in_overlay(const Candidate& candidate) const;
  Result<Program> load_checked(const Candidate& candidate, const Bundle& bundle, const cache::EntryInfo& entry);
  void keep_later(const Candidate& candidate, std::shared_ptr<const Program> program);
  Status keep(const Candidate& candidate, std::shared_ptr<const Program> program) const;
  Loaded compile_apart(const Candidate& candidate) const;
  Result<Found> baked(const Request& request, Status& miss);
  Result<Found> compiled(const Request& request, const Status& miss);
  Result<Found> served(const Request& request);
  // OnMiss::fallback.
  Result<Found> serve_fallback(const Request& request, const Status& miss);
  Result<Found> any_loaded(const Problem& problem);
  Result<Found> any_baked(const Request& request);
  bool compiled_already(const Request& request) const;
  void compile_later(const Request& request, const Status& miss);
  void forget_compiling(const Candidate& candidate);
  Result<Explanation> explain_baked(const Request& request, const Candidate& candidate, Tier tier) const;
  Result<Explanation> explain_miss(const Request& request, const Candidate& candidate, Origin origin,
                                   const Status& miss) const;
  std::string reason(const Request& request, std::size_t bundle) const;
  void log(LogLevel level, const std::string& message) const;

  cl::Context context_;
  cl::Device device_;
  Target target_;
  Options options_;
  std::vector<DeviceBundle> bundles_;
  AtomicCounters counters_;
  std::atomic<std::uint64_t> epoch_{0};

  mutable std::mutex mutex_;  // guards the two below
  std::map<Key, std::shared_ptr<LoadOnce>> slots_;
  std::set<Candidate> compiling_;  // later, or done

  Background background_;  // last: its work uses all of the above
};

}  // namespace clbake
