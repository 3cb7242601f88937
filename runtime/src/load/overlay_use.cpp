// How the programs of a library use the overlay: what it offers, what is added, what the driver refused.
#include <clbake/finalize.hpp>

#include "finalize/finalize_pocl.hpp"
#include "launch/gemm.hpp"
#include "load/programs.hpp"

#include <atomic>
#include <utility>

namespace clbake {

Result<OverlayKey> Programs::key_of(const Candidate& candidate) const {
  const Bundle& bundle = bundles_[candidate.bundle].bundle;
  Result<cache::Variant> variant = bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Result<cache::Source> source = bundle.source(variant->source);
  if (!source) return source.status();
  return overlay_key(target_, std::move(*source), std::move(*variant));
}

// A program that the driver refused before is not shown to it again.
Result<Program> Programs::load_checked(const Candidate& candidate, const Bundle& bundle,
                                       const cache::EntryInfo& entry) {
  const OverlayStore* const overlay = options_.overlay.get();
  if (!overlay) return load_entry(context_, device_, bundle, entry);
  const Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  if (overlay->rejected(*key, entry.program.raw_checksum)) {
    return {Code::driver_rejected, "program " + key->variant.name + ": the driver refused it before"};
  }
  Result<Program> program = load_entry(context_, device_, bundle, entry);
  if (program.status().code() != Code::driver_rejected) return program;
  const Status noted = overlay->reject(*key, entry.program.raw_checksum);
  if (noted) return program;
  // Told with the miss, not here: others wait for this load, and `log` may call the library.
  return {Code::driver_rejected, program.status().message() + "; the overlay could not note it: " + noted.message()};
}

Result<Program> Programs::load_overlaid(const Candidate& candidate) {
  const Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  const Result<Bundle> bundle = options_.overlay->find(*key);
  if (!bundle) return bundle.status();
  Status reason(Code::no_entry, "the overlay's file has no program");
  for (const cache::Form form : {cache::Form::native, cache::Form::portable}) {
    const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0, form);
    if (!entry) continue;
    Result<Program> program = load_checked(candidate, *bundle, *entry);
    if (program) program->explanation.origin = Origin::overlay;
    if (program) return program;
    reason = program.status();
  }
  return reason;
}

// Whether the overlay has something that the driver did not refuse.
bool Programs::in_overlay(const Candidate& candidate) const {
  if (!options_.overlay) return false;
  const std::shared_ptr<LoadOnce> slot = slot_if_any({candidate, Tier::overlay});
  if (slot && slot->ready()) return true;
  if (slot && !slot->failure().ok()) return false;
  const Result<OverlayKey> key = key_of(candidate);
  return key && options_.overlay->find(*key).ok();
}

void Programs::keep_later(const Candidate& candidate, std::shared_ptr<const Program> program) {
  if (!options_.overlay || !options_.overlay->writable()) return;
  const Status added = exceptions_to_status([&] {
    background_.add(Background::ShutdownPolicy::has_to_be_done, [this, candidate, program = std::move(program)] {
      const Status kept = exceptions_to_status([&] { return keep(candidate, program); });
      if (!kept) log(LogLevel::warning, "the overlay keeps nothing of it: " + kept.message());
    });
    return Status();
  });
  if (!added) log(LogLevel::warning, "the overlay keeps nothing of it: no thread could be started");
}

// The same program once more, for finalizing: PoCL 3.1 aborts the process when a program's binary is asked for while
// one of its kernels runs, also one of another program of equal source and options. So each gets an option of its own;
// a count from 1, so that PoCL's own cache has most of it in the next process.
Loaded Programs::compile_apart(const Candidate& candidate) const {
  static std::atomic<unsigned> count{0};
  const std::string option = " -DCLBAKE_OVERLAY=" + std::to_string(++count);
  Result<Program> program =
      compile_source(context_, device_, bundles_[candidate.bundle].bundle, candidate.variant, option);
  if (!program) return program.status();
  return std::make_shared<const Program>(std::move(*program));
}

Status Programs::keep(const Candidate& candidate, std::shared_ptr<const Program> program) const {
  Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  if (is_pocl(target_)) {
    const Loaded apart = compile_apart(candidate);
    if (!apart) return apart.status();
    program = *apart;
  }
  const auto prepare = [&](const Problem& problem) {
    return Gemm::State::create(context_, device_, {program, program->explanation}, problem, false, 0);
  };
  const auto launch = [&] { return launch_every_shape(context_(), device_(), program->variant, prepare); };
  return options_.overlay->keep(*key, Compiled{target_, program->variant, program->program(), launch});
}

}  // namespace clbake
