#include "load/policy.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace clbake {

// Sets the miss to why the first candidate has no machine code for exactly this device and driver.
Result<Found> Policy::baked(const Request& request, Status& miss) {
  for (const Tier tier : baked_tiers) {
    if (tier == Tier::newer_driver && !setup_.options.newer_driver) continue;
    for (const Candidate& candidate : request.candidates) {
      Result<Found> program = store_.get(candidate, tier);
      if (program && tier == Tier::exact) miss = Status();  // another bundle has it
      if (program) return program;
      if (miss.ok()) miss = program.status();
    }
  }
  return miss;
}

Result<Found> Policy::overlaid(const Request& request) {
  Status failure(Code::no_entry, "there is no overlay");
  if (!setup_.options.overlay) return failure;
  for (const Candidate& candidate : request.candidates) {
    Result<Found> program = store_.get(candidate, Tier::overlay);
    if (program) return program;
    failure = program.status();
  }
  return failure;
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

// Where no candidate could be compiled: any variant that computes the problem will do.
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

bool Policy::compiled_already(const Request& request) const {
  for (const Candidate& candidate : request.candidates) {
    if (store_.ready(candidate, Tier::source)) return true;
  }
  return false;
}

Result<Found> Policy::any_baked(const Request& request) {
  for (const Candidate& candidate : request.candidates) {
    for (const std::uint32_t variant : capable_variants(setup_.bundles[candidate.bundle].bundle, request.problem)) {
      Result<Found> program = store_.get({candidate.bundle, variant}, Tier::exact);
      if (program) return program;
    }
  }
  return {Code::no_entry, "no variant that can compute the problem is baked for this driver"};
}

void Policy::compile_async(const Request& request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!compiling_.insert(request.candidates.front()).second) return;
  }
  const Status added = exceptions_to_status([&] {
    background_.add(Background::AtShutdown::discard, [this, request] {
      const Status done = exceptions_to_status([&] { return compiled(request).status(); });
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

Result<Found> Policy::serve_fallback(const Request& request) {
  Result<Found> other = store_.any_ready(request.problem);
  if (!other) other = any_baked(request);
  if (!other) return other;
  const Candidate& wanted = request.candidates.front();
  const Result<cache::Variant> variant = setup_.bundles[wanted.bundle].bundle.variant(wanted.variant);
  compile_async(request);
  other->explanation.waits_for = variant ? variant->name : "unknown";
  other->explanation.reason = "until " + other->explanation.waits_for + " is compiled";
  return other;
}

Result<Found> Policy::serve(const Request& request, Status& miss) {
  Result<Found> program = baked(request, miss);
  if (!program) program = overlaid(request);
  if (program) return program;
  const OnMiss on_miss = setup_.options.on_miss;
  if (on_miss == OnMiss::fail) return miss;
  if (on_miss == OnMiss::fallback && !request.named && !compiled_already(request)) program = serve_fallback(request);
  return program ? std::move(program) : compiled(request);
}

Result<Found> Policy::find(const Request& request) {
  Status miss = request.refused;
  Result<Found> program = serve(request, miss);
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
  // An allocation failure has no message: that would need memory.
  setup_.log(LogLevel::warning, failure.message().empty() ? std::string(name(failure.code())) : failure.message());
}

}  // namespace clbake
