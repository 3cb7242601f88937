#include "load/program_store.hpp"

#include <clbake/joined.hpp>
#include <clbake/platform.hpp>

#include "launch/warm_up.hpp"

#include <vector>

namespace clbake {
namespace {

Found found(std::shared_ptr<const Program> program, const Candidate& candidate, bool loaded) {
  Found f{std::move(program), {}, nullptr};
  f.explanation = f.program->explanation;
  f.explanation.bundle = candidate.bundle;
  f.explanation.loaded = loaded;
  return f;
}

}  // namespace

std::string other_driver(const Setup& setup, const Bundle& bundle, const cache::EntryInfo& entry) {
  const Result<Target> made_for = bundle.target(entry.target);
  const bool other = made_for && made_for->driver_version != setup.target.driver_version;
  return other ? made_for->driver_version : std::string();
}

std::shared_ptr<LoadOnce> ProgramStore::slot(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = slots_.find(key);
  if (at != slots_.end()) return at->second;
  // Made before it is inserted: no slot is empty, even when memory runs out in between.
  return slots_.emplace(key, std::make_shared<LoadOnce>()).first->second;
}

std::shared_ptr<LoadOnce> ProgramStore::slot_if_any(const Key& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = slots_.find(key);
  return at == slots_.end() ? nullptr : at->second;
}

std::shared_ptr<const Program> ProgramStore::ready(const Candidate& candidate, Tier tier) const {
  const std::shared_ptr<LoadOnce> slot = slot_if_any({candidate, tier});
  return slot ? slot->ready() : nullptr;
}

Status ProgramStore::failure(const Candidate& candidate, Tier tier) const {
  const std::shared_ptr<LoadOnce> slot = slot_if_any({candidate, tier});
  return slot ? slot->failure() : Status();
}

Result<Found> ProgramStore::any_ready(const GemmKind& kind) const {
  std::vector<std::pair<Candidate, std::shared_ptr<LoadOnce>>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, slot] : slots_) all.emplace_back(key.first, slot);
  }
  for (const auto& [candidate, slot] : all) {
    std::shared_ptr<const Program> program = slot->ready();
    if (program && program->variant.kind() == kind && !program->variant.is_group())
      return found(std::move(program), candidate, true);
  }
  return {Code::no_variant, "no program that can compute the problem is loaded"};
}

bool ProgramStore::in_overlay(const Candidate& candidate) const {
  if (!setup_.options.overlay) return false;
  if (ready(candidate, Tier::overlay)) return true;
  return failure(candidate, Tier::overlay).ok() && setup_.options.overlay->has(setup_, candidate);
}

Result<Found> ProgramStore::get(const Candidate& candidate, Tier tier) {
  bool loaded = true;
  const Loaded program = slot({candidate, tier})->get([&] {
    loaded = false;
    return load(candidate, tier);
  });
  if (!program) return program.status();
  if (!loaded) {
    tally_.count([&](Counters& c) {
      const Explanation& e = (*program)->explanation;
      c.create_us += static_cast<std::uint64_t>(e.create_us);
      c.build_us += static_cast<std::uint64_t>(e.build_us);
      c.kernel_us += static_cast<std::uint64_t>(e.kernel_us);
    });
    if (tier == Tier::source) store_async(candidate, *program);
  }
  return found(*program, candidate, loaded);
}

// Stores the compiled program in the overlay, if there is one, after the caller has it.
void ProgramStore::store_async(const Candidate& candidate, std::shared_ptr<const Program> program) const {
  if (!setup_.options.overlay || !setup_.options.overlay->writable()) return;
  constexpr const char* kFailed = "could not store the program in the overlay: ";
  const Status added = exceptions_to_status([&] {
    background_.add(Background::AtShutdown::complete, [this, candidate, program = std::move(program)] {
      const Status stored =
          exceptions_to_status([&] { return setup_.options.overlay->store(setup_, candidate, program); });
      if (!stored) setup_.log(LogLevel::warning, kFailed + stored.message());
    });
    return Status();
  });
  if (!added) setup_.log(LogLevel::warning, joined({kFailed, "no thread could be started"}));
}

Result<Program> ProgramStore::load(const Candidate& candidate, Tier tier) const {
  const auto loaded = [&] {
    if (tier == Tier::overlay) return setup_.options.overlay->load(setup_, candidate);
    if (tier != Tier::source) return load_baked(candidate, tier);
    return compile_source(setup_.context, setup_.device, setup_.bundles[candidate.bundle].bundle, candidate.variant);
  };
  Result<Program> program = loaded();
  if (program && tier == Tier::stand_in) {
    const Status right = check_product(setup_.context, setup_.device, *program);
    if (right.code() == Code::out_of_memory || right.code() == Code::opencl) return right;  // of the machine
    if (!right) {
      return Status(Code::driver_rejected, joined({"program ", program->variant.name, ", made for driver ",
                                                   program->explanation.baked_for, ": ", right.message()}));
    }
  }
  // The arguments of an application's own kernels are not known here.
  if (program && platform_of(setup_.target).unpacks_programs && !setup_.options.only_build &&
      !program->variant.is_program()) {
    // Best effort: the product itself may succeed where this launch failed.
    program->explanation.build_us += launch_usual_grids(setup_.context, setup_.device, *program);
  }
  return program;
}

Result<Program> ProgramStore::load_baked(const Candidate& candidate, Tier tier) const {
  const DeviceBundle& bundle = setup_.bundles[candidate.bundle];
  const OverlayStore* const overlay = setup_.options.overlay.get();
  Status reason;
  for (const cache::EntryInfo& entry : eligible_entries(bundle, setup_.target, candidate.variant, tier, reason)) {
    Result<Program> program = overlay ? overlay->load_unless_rejected(setup_, candidate, bundle.bundle, entry)
                                      : load_entry(setup_.context, setup_.device, bundle.bundle, entry);
    if (program) program->explanation.baked_for = other_driver(setup_, bundle.bundle, entry);
    if (program) return program;
    reason = program.status();
  }
  return reason;
}

}  // namespace clbake
