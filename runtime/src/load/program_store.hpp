// The programs of a library, each loaded at most once, however many threads ask for it.
#pragma once

#include "load/background.hpp"
#include "load/load_once.hpp"
#include "load/overlay_store.hpp"
#include "select/tiers.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace clbake {

// The driver for which an entry was made, if it is not this one; else empty.
std::string other_driver(const Setup& setup, const Bundle& bundle, const cache::EntryInfo& entry);

// Knows how to load a program from each tier; which tier to try is the policy's business. All members may be called by
// any number of threads at once. No lock is held across a call of a driver, the log or a bundle.
class ProgramStore {
 public:
  // All three must outlive the store.
  ProgramStore(const Setup& setup, Background& background, Tally& tally)
      : setup_(setup), background_(background), tally_(tally) {}

  // The program, from memory or loaded now. Adds the driver's time to the counters, and stores what was compiled
  // in the overlay. A permanent failure is remembered; after one of the machine the next call tries again.
  Result<Found> get(const Candidate& candidate, Tier tier);

  // Without loading anything: the program, null while it is not loaded; and why it cannot be loaded, ok while it may.
  std::shared_ptr<const Program> ready(const Candidate& candidate, Tier tier) const;
  Status failure(const Candidate& candidate, Tier tier) const;

  // Any loaded program that computes this kind of problem. Fails with no_variant.
  Result<Found> any_ready(const GemmKind& kind) const;

  // True when the overlay has a program for it that the driver has not rejected.
  bool in_overlay(const Candidate& candidate) const;

 private:
  using Key = std::pair<Candidate, Tier>;

  std::shared_ptr<LoadOnce> slot(const Key& key);
  std::shared_ptr<LoadOnce> slot_if_any(const Key& key) const;
  Result<Program> load(const Candidate& candidate, Tier tier) const;
  Result<Program> load_baked(const Candidate& candidate, Tier tier) const;
  void store_async(const Candidate& candidate, std::shared_ptr<const Program> program) const;

  const Setup& setup_;
  Background& background_;
  Tally& tally_;
  mutable std::mutex mutex_;  // guards slots_
  std::map<Key, std::shared_ptr<LoadOnce>> slots_;
};

}  // namespace clbake
