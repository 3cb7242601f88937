#include "load/policy.hpp"

#include <clbake/joined.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace clbake {
namespace {

std::string reason_of_stand_in(const Explanation& e) {
  if (e.baked_for.empty()) return "made for any device of this architecture, and checked on this one";
  return joined({"made for driver ", e.baked_for, ", and checked on this one"});
}

void count_miss(Counters& counters, Code reason) {
  const auto index = static_cast<std::size_t>(reason);
  if (index >= 20 && index < 50) ++counters.misses[index];  // other codes are no reasons (clbake/status.hpp)
}

void count_served(Counters& c, const Explanation& e) {
  if (!e.waits_for.empty()) {
    ++c.fallback;
  } else if (e.loaded) {
    ++c.loaded;
  } else {
    ++(e.origin == Origin::native     ? c.native
       : e.origin == Origin::portable ? c.portable
       : e.origin == Origin::overlay  ? c.overlay
                                      : c.source);
  }
}

// Combines two programs that serve one problem: the worst origin, the first miss, summed times.
void add_complex(Explanation& e, const Explanation& of_kernels) {
  if (of_kernels.origin > e.origin) {
    e.origin = of_kernels.origin;
    e.baked_for = of_kernels.baked_for;
  }
  if (e.miss == Code::ok) {
    e.miss = of_kernels.miss;
    e.miss_message = of_kernels.miss_message;
  }
  e.loaded = e.loaded && of_kernels.loaded;
  e.create_us += of_kernels.create_us;
  e.build_us += of_kernels.build_us;
  e.kernel_us += of_kernels.kernel_us;
}

}  // namespace

Policy::Policy(const Setup& setup, Background& background, Tally& tally)
    : setup_(setup),
      background_(background),
      tally_(tally),
      tiers_(tiers_of({setup.options.newer_driver, setup.options.on_miss == OnMiss::fallback,
                       setup.options.overlay != nullptr, setup.options.on_miss != OnMiss::fail})),
      store_(setup, background, tally) {}

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

// Any variant that computes the problem will do where no candidate can be compiled.
Result<Found> Policy::compiled(const Request& request) {
  Status failure;
  for (const Candidate& candidate : request.candidates) {
    Result<Found> program = store_.get(candidate, Tier::source);
    if (program || request.named || !is_permanent(program.status().code())) return program;
    if (failure.ok()) failure = program.status();
  }
  for (const Candidate& other : other_variants(setup_.bundles, request)) {
    Result<Found> program = store_.get(other, Tier::source);
    if (!program && is_permanent(program.status().code())) continue;
    if (program) program->explanation.reason = "the chosen variant could not be compiled: " + failure.message();
    return program;
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
    for (const Candidate& other : other_variants(setup_.bundles, request)) {
      Result<Found> program = store_.get(other, tier);
      if (program) return program;
    }
  }
  return {Code::no_entry, "no variant that can compute the problem is baked for this driver, or for an older one"};
}

bool Policy::start_compiling(const Candidate& candidate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::find(compiling_.begin(), compiling_.end(), candidate) != compiling_.end()) return false;
  compiling_.push_back(candidate);
  return true;
}

// The next call tries again.
void Policy::forget_compiling(const Candidate& candidate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  compiling_.erase(std::find(compiling_.begin(), compiling_.end(), candidate));
}

void Policy::prepare_async(const Request& request) {
  if (!start_compiling(request.candidates.front())) return;
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

std::string Policy::name_of(const Candidate& candidate) const {
  const Result<cache::Variant> variant = setup_.bundles[candidate.bundle].bundle.variant(candidate.variant);
  return variant ? variant->name : "an unknown variant";
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
  prepare_async(request);
  Explanation& e = other->explanation;
  e.waits_for = name_of(request.candidates.front());
  e.reason = joined({"until ", e.waits_for, " is compiled"});
  if (!e.baked_for.empty()) e.reason = joined({"made for driver ", e.baked_for, "; ", e.reason, " for this one"});
  return other;
}

// Before a call waits for the driver's compiler, because nothing can serve in the meantime.
void Policy::tell_of_waiting(const Request& request, const Status& miss) const {
  const Candidate& first = request.candidates.front();
  if (setup_.options.on_miss != OnMiss::fallback) return;
  if (store_.ready(first, Tier::source) || !store_.failure(first, Tier::source).ok()) return;
  setup_.log(LogLevel::info, joined({"the call waits until ", name_of(first),
                                     " is compiled, as nothing else can serve: ", miss.message()}));
}

Result<Found> Policy::find(const Request& request) {
  if (request.kernels.empty()) return find_one(request);
  Result<Found> kernels = find_one(request.kernels.front());
  if (!kernels) return kernels;
  Result<Found> found = find_one(request);
  if (!found) return found;
  found->complex = std::move(kernels->program);
  add_complex(found->explanation, kernels->explanation);
  return found;
}

Result<Found> Policy::find_one(const Request& request) {
  Status miss = request.refused;
  Result<Found> program = serve(request, Tier::exact, miss);
  if (!program) {
    // One that fails with the same code is counted by count_failure.
    if (program.status().code() != miss.code()) tally_.count([&](Counters& c) { count_miss(c, miss.code()); });
    return program;
  }
  Explanation& e = program->explanation;
  e.miss = miss.code();
  e.miss_message = miss.message();
  if (e.reason.empty()) e.reason = reason_for(request, setup_.bundles[e.bundle]);
  const bool is_miss = e.miss != Code::ok && (!e.loaded || !e.waits_for.empty());
  tally_.count([&](Counters& c) {
    count_served(c, e);
    if (is_miss) count_miss(c, e.miss);
  });
  if (!is_miss) return program;
  const bool is_new = e.origin == Origin::source && !e.loaded;
  const std::string took = is_new ? joined({", compiled in ", std::lround(e.build_us / 1000), " ms"}) : std::string();
  setup_.log(is_new ? LogLevel::warning : LogLevel::info,
             joined({e.variant, " is served from ", name(e.origin), took, ": ", e.miss_message, " (", e.reason, ")"}));
  return program;
}

void Policy::count_failure(const Status& failure) {
  tally_.count([&](Counters& c) {
    ++c.failed;
    count_miss(c, failure.code());
  });
  // An allocation failure has no message: that would need memory, as would a copy of one.
  if (!failure.message().empty()) return setup_.log(LogLevel::warning, failure.message());
  setup_.log(LogLevel::warning, std::string(name(failure.code())));
}

// Library::explain: the tiers of `find`, without loading anything.

// Explains the tier's program of one candidate. Fails where there is none.
Result<Explanation> Policy::explain(const Request& request, const Candidate& candidate, Tier tier) const {
  const DeviceBundle& bundle = setup_.bundles[candidate.bundle];
  Explanation e;
  if (tier == Tier::overlay && !store_.in_overlay(candidate)) return {Code::no_entry, "not in the overlay"};
  if (tier == Tier::overlay || tier == Tier::source) {
    e.origin = tier == Tier::overlay ? Origin::overlay : Origin::source;
  } else {
    const Status failed_before = store_.failure(candidate, tier);
    if (!failed_before) return failed_before;
    Status none;
    const std::vector<cache::EntryInfo> entries =
        eligible_entries(bundle, setup_.target, candidate.variant, tier, none);
    if (entries.empty()) return none;
    e.origin = tier == Tier::portable ? Origin::portable : Origin::native;
    e.baked_for = other_driver(setup_, bundle.bundle, entries.front());
  }
  const Result<cache::Variant> variant = bundle.bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  e.variant = variant->name;
  e.bundle = candidate.bundle;
  e.reason = tier == Tier::stand_in ? reason_of_stand_in(e) : reason_for(request, bundle);
  const std::shared_ptr<const Program> program = store_.ready(candidate, tier);
  if (!program) return e;
  e.loaded = true;
  e.create_us = program->explanation.create_us;
  e.build_us = program->explanation.build_us;
  e.kernel_us = program->explanation.kernel_us;
  return e;
}

Result<Explanation> Policy::explain(const Request& request, Tier tier) const {
  const Candidate& wanted = request.candidates.front();
  if (tier == Tier::stand_in && !may_fall_back(request)) return {Code::no_entry, "nothing has to stand in"};
  if (tier == Tier::stand_in || tier == Tier::source) return explain(request, wanted, tier);
  return first_of(request.candidates, [&](const Candidate& candidate) { return explain(request, candidate, tier); });
}

Result<Explanation> Policy::explain(const Request& request) const {
  if (request.kernels.empty()) return explain_one(request);
  const Result<Explanation> kernels = explain_one(request.kernels.front());
  if (!kernels) return kernels;
  Result<Explanation> explanation = explain_one(request);
  if (explanation) add_complex(*explanation, *kernels);
  return explanation;
}

Result<Explanation> Policy::explain_one(const Request& request) const {
  Status miss = request.refused;
  Result<Explanation> e = first_that_serves(tiers_, miss, [&](Tier tier) { return explain(request, tier); });
  if (!e) return tiers_.back() == Tier::source ? std::move(e) : miss;
  e->miss = miss.code();
  e->miss_message = miss.message();
  return e;
}

}  // namespace clbake
