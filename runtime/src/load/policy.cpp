#include "load/policy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace clbake {

Policy::Policy(const Setup& setup)
    : setup_(setup),
      tiers_(tiers_of({setup.options.newer_driver, setup.options.on_miss == OnMiss::fallback,
                       setup.options.overlay != nullptr, setup.options.on_miss != OnMiss::fail})),
      store_(setup, background_, counters_) {}

Result<Found> Policy::load(const Request& request, Tier tier) {
  return first_of(request.candidates, [&](const Candidate& candidate) { return store_.get(candidate, tier); });
}

Result<Found> Policy::serve(const Request& request, Tier from, Status& miss) {
  const std::vector<Tier> tiers(std::lower_bound(tiers_.begin(), tiers_.end(), from), tiers_.end());
  Result<Found> served = first_that_serves(tiers, miss, [&](Tier tier) {
    if (tier == Tier::stand_in) return serve_fallback(request);
    if (tier != Tier::source) return load(request, tier);
    if (from == Tier::exact) tell_of_waiting(request, miss);
    return compiled(request);
  });
  return served || tiers_.back() == Tier::source ? std::move(served) : miss;
}

Result<Found> Policy::compiled(const Request& request) {
  Status failure;
  for (const Candidate& candidate : request.candidates) {
    Result<Found> program = store_.get(candidate, Tier::source);
    if (program || request.named || !is_permanent(program.status().code())) return program;
    if (failure.ok()) failure = program.status();
  }
  return any_compiled(request, failure);
}

// Used when no candidate could be compiled: any variant that computes the problem will do.
Result<Found> Policy::any_compiled(const Request& request, const Status& failure) {
  for (const Candidate& candidate : request.candidates) {
    for (const std::uint32_t variant : capable_variants(setup_.bundles[candidate.bundle].bundle, request.problem)) {
      if (variant == candidate.variant) continue;
      Result<Found> program = store_.get({candidate.bundle, variant}, Tier::source);
      if (!program && !is_permanent(program.status().code())) return program;
      if (!program) continue;
      program->explanation.reason = "the chosen variant could not be compiled: " + failure.message();
      return program;
    }
  }
  return failure;
}

// True when the wanted program is not there yet, and something else may serve.
bool Policy::may_fall_back(const Request& request) const {
  if (request.named) return false;
  if (store_.ready(request.candidates.front(), Tier::stand_in)) return true;  // it serves on
  for (const Candidate& candidate : request.candidates) {
    for (const Tier tier : {Tier::portable, Tier::source}) {
      if (store_.ready(candidate, tier)) return false;
    }
    if (store_.in_overlay(candidate)) return false;
  }
  return true;
}

Result<Found> Policy::any_baked(const Request& request) {
  for (const Tier tier : {Tier::exact, Tier::same_driver, Tier::stand_in}) {
    for (const Candidate& candidate : request.candidates) {
      for (const std::uint32_t variant : capable_variants(setup_.bundles[candidate.bundle].bundle, request.problem)) {
        Result<Found> program = store_.get({candidate.bundle, variant}, tier);
        if (program) return program;
      }
    }
  }
  return {Code::no_entry, "no variant that can compute the problem is baked for this driver, or for an older one"};
}

void Policy::prepare_async(const Request& request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!compiling_.insert(request.candidates.front()).second) return;
  }
  const Status added = exceptions_to_status([&] {
    background_.add(Background::AtShutdown::discard, [this, request] {
      const Status done = exceptions_to_status([&] {
        Status miss;
        return serve(request, Tier::portable, miss).status();
      });
      epoch_.fetch_add(1, std::memory_order_release);
      if (!done && !is_permanent(done.code())) forget_compiling(request.candidates.front());
      if (!done) setup_.log(LogLevel::warning, "compiling in the background failed: " + done.message());
    });
    return Status();
  });
  if (!added) forget_compiling(request.candidates.front());  // no thread could be started
}

// The next call tries again.
void Policy::forget_compiling(const Candidate& candidate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  compiling_.erase(candidate);
}

std::string Policy::reason_of_stand_in(const Explanation& e) {
  const std::string made_for = e.baked_for.empty() ? "any device of this architecture" : "driver " + e.baked_for;
  return "made for " + made_for + ", and checked on this one";
}

// The wanted variant, then any of another bundle's choice, that is loaded, that is baked. The first is as fast as what
// a compiler would make, and NVIDIA's driver lets the launches of other threads wait while it compiles: nothing is
// compiled then.
Result<Found> Policy::serve_fallback(const Request& request) {
  if (!may_fall_back(request)) return Status(Code::no_entry, "nothing has to stand in");
  Result<Found> other = store_.get(request.candidates.front(), Tier::stand_in);
  if (other) {
    other->explanation.reason = reason_of_stand_in(other->explanation);
    return other;
  }
  other = load(request, Tier::stand_in);
  if (!other) other = store_.any_ready(request.problem);
  if (!other) other = any_baked(request);
  if (!other) return other;
  const Candidate& wanted = request.candidates.front();
  const Result<cache::Variant> variant = setup_.bundles[wanted.bundle].bundle.variant(wanted.variant);
  prepare_async(request);
  Explanation& e = other->explanation;
  e.waits_for = variant ? variant->name : "unknown";
  e.reason = "until " + e.waits_for + " is compiled";
  if (!e.baked_for.empty()) e.reason = "made for driver " + e.baked_for + "; " + e.reason + " for this one";
  return other;
}

// Before a call waits for the driver's compiler, because nothing can serve in the meantime.
void Policy::tell_of_waiting(const Request& request, const Status& miss) const {
  const Candidate& first = request.candidates.front();
  if (setup_.options.on_miss != OnMiss::fallback) return;
  if (store_.ready(first, Tier::source) || !store_.failure(first, Tier::source).ok()) return;
  const Result<cache::Variant> variant = setup_.bundles[first.bundle].bundle.variant(first.variant);
  if (!variant) return;
  setup_.log(LogLevel::info,
             "the call waits until " + variant->name + " is compiled, as nothing else can serve: " + miss.message());
}

Result<Found> Policy::find(const Request& request) {
  Status miss = request.refused;
  Result<Found> program = serve(request, Tier::exact, miss);
  if (!program) {
    if (program.status().code() != miss.code()) counters_.add_miss(miss.code());  // else count_failure does
    return program;
  }
  Explanation& e = program->explanation;
  e.miss = miss.code();
  e.miss_message = miss.message();
  if (e.reason.empty()) e.reason = reason_for(request, setup_.bundles[e.bundle]);
  counters_.add_served(e);
  if (e.miss != Code::ok && (!e.loaded || !e.waits_for.empty())) {
    counters_.add_miss(e.miss);
    const bool is_new = e.origin == Origin::source && !e.loaded;
    const std::string took = is_new ? ", compiled in " + std::to_string(std::lround(e.build_us / 1000)) + " ms" : "";
    setup_.log(is_new ? LogLevel::warning : LogLevel::info,
               e.variant + " is served from " + name(e.origin) + took + ": " + e.miss_message + " (" + e.reason + ")");
  }
  return program;
}

void Policy::count_failure(const Status& failure) {
  AtomicCounters::add(counters_.failed);
  counters_.add_miss(failure.code());
  // An allocation failure has no message: that would need memory, as would a copy of one.
  if (!failure.message().empty()) return setup_.log(LogLevel::warning, failure.message());
  setup_.log(LogLevel::warning, std::string(name(failure.code())));
}

}  // namespace clbake
