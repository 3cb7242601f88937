#include "load/overlay_programs.hpp"

#include <clbake/finalize.hpp>
#include <clbake/platform.hpp>
#include <clbake/trust.hpp>

#include "launch/warm_up.hpp"

#include <atomic>
#include <utility>

namespace clbake {

Result<OverlayKey> OverlayPrograms::key_of(const Candidate& candidate) const {
  const Bundle& bundle = setup_.bundles[candidate.bundle].bundle;
  Result<cache::Variant> variant = bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Result<cache::Source> source = bundle.source(variant->source);
  if (!source) return source.status();
  const std::shared_ptr<const Trust>& trust = setup_.options.trust;
  return overlay_key(setup_.target, std::move(*source), std::move(*variant), trust ? trust->scope() : std::string());
}

Result<Program> OverlayPrograms::load_unless_rejected(const Candidate& candidate, const Bundle& bundle,
                                                      const cache::EntryInfo& entry) const {
  const OverlayStore* const overlay = setup_.options.overlay.get();
  if (!overlay) return load_entry(setup_.context, setup_.device, bundle, entry);
  const Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  if (overlay->is_rejected(*key, entry.program.raw_checksum)) {
    return {Code::driver_rejected, "program " + key->variant.name + ": the driver rejected it before"};
  }
  Result<Program> program = load_entry(setup_.context, setup_.device, bundle, entry);
  if (program.status().code() != Code::driver_rejected) return program;
  const Status marked = overlay->mark_rejected(*key, entry.program.raw_checksum);
  if (marked) return program;
  // Part of the miss instead of a log line: other threads wait for this load, and `log` may call the library.
  return program.status().with_message(program.status().message() +
                                       "; the overlay could not mark it: " + marked.message());
}

Result<Program> OverlayPrograms::load(const Candidate& candidate) const {
  const Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  const Result<Bundle> bundle = setup_.options.overlay->find(*key);
  if (!bundle) return bundle.status();
  Status reason(Code::no_entry, "the overlay's file has no program");
  for (const cache::Form form : {cache::Form::native, cache::Form::portable}) {
    const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0, form);
    if (!entry) continue;
    Result<Program> program = load_unless_rejected(candidate, *bundle, *entry);
    if (program) program->explanation.origin = Origin::overlay;
    if (program) return program;
    reason = program.status();
  }
  return reason;
}

bool OverlayPrograms::has(const Candidate& candidate) const {
  if (!setup_.options.overlay) return false;
  const Result<OverlayKey> key = key_of(candidate);
  return key && setup_.options.overlay->find(*key).ok();
}

void OverlayPrograms::store_async(const Candidate& candidate, std::shared_ptr<const Program> program) const {
  if (!setup_.options.overlay || !setup_.options.overlay->writable()) return;
  const Status added = exceptions_to_status([&] {
    background_.add(Background::AtShutdown::complete, [this, candidate, program = std::move(program)] {
      const Status stored = exceptions_to_status([&] { return store(candidate, program); });
      if (!stored) setup_.log(LogLevel::warning, "could not store the program in the overlay: " + stored.message());
    });
    return Status();
  });
  if (!added) setup_.log(LogLevel::warning, "could not store the program in the overlay: no thread could be started");
}

// Compiles the program a second time, for finalizing: PoCL 3.1 aborts the process when a program's binary is queried
// while one of its kernels runs, or one of another program with the same source and options. So each compilation gets
// an option of its own: a number from 1 on, so that PoCL's own cache has most of them in the next process.
Loaded OverlayPrograms::compile_again(const Candidate& candidate) const {
  static std::atomic<unsigned> count{0};
  const std::string option = " -DCLBAKE_OVERLAY=" + std::to_string(++count);
  Result<Program> program =
      compile_source(setup_.context, setup_.device, setup_.bundles[candidate.bundle].bundle, candidate.variant, option);
  if (!program) return program.status();
  return std::make_shared<const Program>(std::move(*program));
}

Status OverlayPrograms::store(const Candidate& candidate, std::shared_ptr<const Program> program) const {
  Result<OverlayKey> key = key_of(candidate);
  if (!key) return key.status();
  if (platform_of(setup_.target).binaries == Binaries::functions) {
    const Loaded second = compile_again(candidate);
    if (!second) return second.status();
    program = *second;
  }
  const auto launch = [&] {
    if (program->variant.is_program()) return Status();  // only its application knows the arguments
    return launch_every_shape(setup_.context, setup_.device, program);
  };
  return setup_.options.overlay->finalize_and_store(
      *key, Compiled{setup_.target, program->variant, program->program(), launch});
}

}  // namespace clbake
