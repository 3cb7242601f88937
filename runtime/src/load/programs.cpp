#include "load/programs.hpp"

#include <clbake/finalize.hpp>

#include "finalize/finalize_pocl.hpp"
#include "launch/gemm.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace clbake {
namespace {

Found found(std::shared_ptr<const Program> program, const Candidate& candidate, bool loaded) {
  Found f{std::move(program), {}};
  f.explanation = f.program->explanation;
  f.explanation.bundle = candidate.bundle;
  f.explanation.loaded = loaded;
  return f;
}

// Of the works for one program in the process; no lock is held meanwhile. `work` must not throw.
template <typename Work>
void one_at_a_time(const std::string& program, const Work& work) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> busy;
  };
  static Gate& gate = *new Gate;  // never destroyed: threads may come to it until the process has ended
  std::unique_lock<std::mutex> lock(gate.mutex);
  gate.changed.wait(lock, [&] { return gate.busy.count(program) == 0; });
  gate.busy.insert(program);
  lock.unlock();
  work();
  lock.lock();
  gate.busy.erase(program);
  gate.changed.notify_all();
}

void set_miss(Explanation& explanation, const Status& miss) {
  explanation.miss = miss.code();
  explanation.miss_message = miss.message();
}

}  // namespace

bool operator<(const Candidate& a, const Candidate& b) {
  return std::tie(a.bundle, a.variant) < std::tie(b.bundle, b.variant);
}

Programs::Programs(cl::Context context, cl::Device device, Target target, const std::vector<Bundle>& bundles,
                   Options options)
    : context_(std::move(context)),
      device_(std::move(device)),
      target_(std::move(target)),
      options_(std::move(options)) {
  for (const Bundle& bundle : bundles) bundles_.push_back(bundle_for(bundle, target_));
}

void Programs::log(LogLevel level, const std::string& message) const {
  if (options_.log) options_.log(level, message.c_str(), options_.log_data);
}

Result<Request> Programs::request(const Problem& rows, const std::string& name) const {
  Request request{rows, {}, !name.empty()};
  Status first_failure(Code::no_variant, "the library has no bundle");
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    const Result<std::uint32_t> variant = choose(bundles_[i], rows, name);
    if (variant) request.candidates.push_back({i, *variant});
    if (!variant && i == 0) first_failure = variant.status();
  }
  if (request.candidates.empty()) return first_failure;
  return request;
}

std::shared_ptr<LoadOnce> Programs::slot(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<LoadOnce>& slot = slots_[key];
  if (!slot) slot = std::make_shared<LoadOnce>();
  return slot;
}

std::shared_ptr<LoadOnce> Programs::slot_if_any(const Key& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = slots_.find(key);
  return at == slots_.end() ? nullptr : at->second;
}

Result<Found> Programs::from(const Candidate& candidate, Tier tier) {
  bool loaded = true;
  const Loaded program = slot({candidate, tier})->get([&] {
    loaded = false;
    return load(candidate, tier);
  });
  if (!program) return program.status();
  if (!loaded) counters_.add_times((*program)->explanation);
  if (!loaded && tier == Tier::source) keep_later(candidate, *program);
  return found(*program, candidate, loaded);
}

Result<Program> Programs::load(const Candidate& candidate, Tier tier) {
  const auto loaded = [&] {
    if (tier == Tier::overlay) return load_overlaid(candidate);
    if (tier != Tier::source) return load_baked(candidate, tier);
    return compile_source(context_, device_, bundles_[candidate.bundle].bundle, candidate.variant);
  };
  Result<Program> program = loaded();
  if (program && is_pocl(target_) && !options_.only_build) launch_once(*program);
  return program;
}

// finalize_pocl.hpp says what for. Should it fail, the product that is wanted may do better.
void Programs::launch_once(Program& program) const {
  const auto start = std::chrono::steady_clock::now();
  const auto same = std::make_shared<const Program>(program);
  const auto prepare = [&](const Problem& problem) {
    return Gemm::State::create(context_, device_, {same, same->explanation}, problem, false, 0);
  };
  Status launched;
  const auto widen = [](Gemm& gemm, cl_command_queue queue, std::size_t elements) {
    return Gemm::State::of(gemm).widen_reduction(queue, elements);
  };
  one_at_a_time(program.variant.build_options,
                [&] { launched = launch_usual_shape(context_(), device_(), program.variant, prepare, widen); });
  const std::chrono::duration<double, std::micro> us = std::chrono::steady_clock::now() - start;
  if (launched) program.explanation.build_us += us.count();
}

Result<Program> Programs::load_baked(const Candidate& candidate, Tier tier) {
  const DeviceBundle& bundle = bundles_[candidate.bundle];
  Status reason;
  for (const cache::EntryInfo& entry : eligible_entries(bundle, target_, candidate.variant, tier, reason)) {
    Result<Program> program = load_checked(candidate, bundle.bundle, entry);
    reason = program.status();
    if (!program) continue;
    const Result<Target> made_for = bundle.bundle.target(entry.target);
    const bool other_driver = made_for && made_for->driver_version != target_.driver_version;
    if (other_driver) program->explanation.baked_for = made_for->driver_version;
    return program;
  }
  return reason;
}

// A program that one of the bundles holds. `miss` is why the first candidate's machine code does not serve.
Result<Found> Programs::baked(const Request& request, Status& miss) {
  for (const Tier tier : baked_tiers) {
    if (tier == Tier::newer_driver && !options_.newer_driver) continue;
    for (const Candidate& candidate : request.candidates) {
      Result<Found> program = from(candidate, tier);
      if (program && tier != Tier::exact) set_miss(program->explanation, miss);
      if (program) return program;
      if (miss.ok()) miss = program.status();
    }
  }
  return miss;
}

Result<Found> Programs::overlaid(const Request& request, const Status& miss) {
  Status failure(Code::no_entry, "there is no overlay");
  if (!options_.overlay) return failure;
  for (const Candidate& candidate : request.candidates) {
    Result<Found> program = from(candidate, Tier::overlay);
    if (program) set_miss(program->explanation, miss);
    if (program) return program;
    failure = program.status();
  }
  return failure;
}

Result<Found> Programs::compiled(const Request& request, const Status& miss) {
  Status failure;
  const auto compile = [&](const Candidate& candidate) {
    Result<Found> program = from(candidate, Tier::source);
    if (program) set_miss(program->explanation, miss);
    if (failure.ok()) failure = program.status();
    return program;
  };
  for (const Candidate& candidate : request.candidates) {
    Result<Found> program = compile(candidate);
    if (program || request.named || !is_permanent(program.status().code())) return program;
  }
  // The choice was made for another device and does not fit this one: any variant that can do the problem will do.
  for (const Candidate& candidate : request.candidates) {
    for (const std::uint32_t variant : capable_variants(bundles_[candidate.bundle].bundle, request.problem)) {
      if (variant == candidate.variant) continue;
      Result<Found> program = compile({candidate.bundle, variant});
      if (!program && !is_permanent(program.status().code())) return program;
      if (!program) continue;
      program->explanation.reason = "the chosen variant does not fit the device: " + failure.message();
      return program;
    }
  }
  return failure;
}

bool Programs::compiled_already(const Request& request) const {
  for (const Candidate& candidate : request.candidates) {
    const std::shared_ptr<LoadOnce> slot = slot_if_any({candidate, Tier::source});
    if (slot && slot->ready()) return true;
  }
  return false;
}

Result<Found> Programs::any_loaded(const Problem& problem) {
  std::vector<std::pair<Candidate, std::shared_ptr<LoadOnce>>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, slot] : slots_) all.emplace_back(key.candidate, slot);
  }
  for (const auto& [candidate, slot] : all) {
    std::shared_ptr<const Program> program = slot->ready();
    if (program && computes(program->variant, problem)) return found(std::move(program), candidate, true);
  }
  return {Code::no_variant, "no program that could do the problem is loaded"};
}

Result<Found> Programs::any_baked(const Request& request) {
  for (const Candidate& candidate : request.candidates) {
    for (const std::uint32_t variant : capable_variants(bundles_[candidate.bundle].bundle, request.problem)) {
      Result<Found> program = from({candidate.bundle, variant}, Tier::exact);
      if (program) return program;
    }
  }
  return {Code::no_entry, "no variant that could do the problem is baked for this driver"};
}

void Programs::compile_later(const Request& request, const Status& miss) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!compiling_.insert(request.candidates.front()).second) return;
  }
  const Status added = exceptions_to_status([&] {
    background_.add(Background::ShutdownPolicy::may_be_dropped, [this, request, miss] {
      const Status done = exceptions_to_status([&] { return compiled(request, miss).status(); });
      epoch_.fetch_add(1, std::memory_order_release);
      if (!done && !is_permanent(done.code())) forget_compiling(request.candidates.front());
      if (!done) log(LogLevel::warning, "compiling in the background failed: " + done.message());
    });
    return Status();
  });
  if (!added) forget_compiling(request.candidates.front());  // no thread could be started
}

// The next call tries again.
void Programs::forget_compiling(const Candidate& candidate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  compiling_.erase(candidate);
}

Result<Found> Programs::serve_fallback(const Request& request, const Status& miss) {
  Result<Found> other = any_loaded(request.problem);
  if (!other) other = any_baked(request);
  if (!other) return other;
  const Candidate& wanted = request.candidates.front();
  const Result<cache::Variant> variant = bundles_[wanted.bundle].bundle.variant(wanted.variant);
  compile_later(request, miss);
  set_miss(other->explanation, miss);
  other->explanation.waits_for = variant ? variant->name : "unknown";
  other->explanation.reason = "until " + other->explanation.waits_for + " is compiled";
  return other;
}

Result<Found> Programs::served(const Request& request) {
  Status miss;
  Result<Found> program = baked(request, miss);
  if (program) return program;
  program = overlaid(request, miss);
  if (program) return program;
  if (options_.on_miss == OnMiss::fail) return miss;
  if (options_.on_miss == OnMiss::fallback && !request.named && !compiled_already(request)) {
    program = serve_fallback(request, miss);
    if (program) return program;
  }
  return compiled(request, miss);
}

Result<Found> Programs::find(const Request& request) {
  Result<Found> program = served(request);
  if (!program) {
    AtomicCounters::add(counters_.failed);
    if (options_.on_miss == OnMiss::fail) counters_.add_miss(program.status().code());
    log(LogLevel::warning, program.status().message());
    return program;
  }
  Explanation& e = program->explanation;
  if (e.reason.empty()) e.reason = reason(request, e.bundle);
  counters_.add_served(e);
  if (e.miss != Code::ok && (!e.loaded || !e.waits_for.empty())) {
    counters_.add_miss(e.miss);
    log(LogLevel::info, e.variant + " is served from " + name(e.origin) + ": " + e.miss_message);
  }
  return program;
}

std::string Programs::reason(const Request& request, std::size_t bundle) const {
  return request.named ? "asked for by name" : why(bundles_[bundle], request.problem);
}

Result<Explanation> Programs::explain_baked(const Request& request, const Candidate& candidate, Tier tier) const {
  const DeviceBundle& bundle = bundles_[candidate.bundle];
  const std::shared_ptr<LoadOnce> slot = slot_if_any({candidate, tier});
  if (slot && !slot->failure().ok()) return slot->failure();
  Status none;
  const std::vector<cache::EntryInfo> entries = eligible_entries(bundle, target_, candidate.variant, tier, none);
  if (entries.empty()) return none;
  const Result<cache::Variant> variant = bundle.bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Explanation e;
  const std::shared_ptr<const Program> program = slot ? slot->ready() : nullptr;
  if (program) e = program->explanation;
  e.loaded = program != nullptr;
  e.origin = entries.front().form == cache::Form::native ? Origin::native : Origin::portable;
  e.variant = variant->name;
  e.bundle = candidate.bundle;
  e.reason = reason(request, candidate.bundle);
  const Result<Target> made_for = bundle.bundle.target(entries.front().target);
  if (made_for && made_for->driver_version != target_.driver_version) e.baked_for = made_for->driver_version;
  return e;
}

Result<Explanation> Programs::explain(const Request& request) const {
  Status miss;
  for (const Tier tier : baked_tiers) {
    if (tier == Tier::newer_driver && !options_.newer_driver) continue;
    for (const Candidate& candidate : request.candidates) {
      Result<Explanation> e = explain_baked(request, candidate, tier);
      if (e && tier != Tier::exact) set_miss(*e, miss);
      if (e) return e;
      if (miss.ok()) miss = e.status();
    }
  }
  for (const Candidate& candidate : request.candidates) {
    if (in_overlay(candidate)) return explain_miss(request, candidate, Origin::overlay, miss);
  }
  if (options_.on_miss == OnMiss::fail) return miss;
  return explain_miss(request, request.candidates.front(), Origin::source, miss);
}

Result<Explanation> Programs::explain_miss(const Request& request, const Candidate& candidate, Origin origin,
                                           const Status& miss) const {
  const Result<cache::Variant> variant = bundles_[candidate.bundle].bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Explanation e;
  e.origin = origin;
  e.variant = variant->name;
  e.bundle = candidate.bundle;
  e.reason = reason(request, candidate.bundle);
  const std::shared_ptr<LoadOnce> slot =
      slot_if_any({candidate, origin == Origin::overlay ? Tier::overlay : Tier::source});
  e.loaded = slot && slot->ready();
  set_miss(e, miss);
  return e;
}

}  // namespace clbake
