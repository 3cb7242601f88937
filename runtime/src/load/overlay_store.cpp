#include "load/overlay_store.hpp"

#include <clbake/exceptions_to_status.hpp>
#include <clbake/finalize.hpp>
#include <clbake/overlay_directory.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>
#include <clbake/trust.hpp>

#include "launch/warm_up.hpp"

#include <atomic>
#include <utility>

namespace clbake {
namespace {

Result<OverlayKey> key_of(const Setup& setup, const Candidate& candidate) {
  const Bundle& bundle = setup.bundles[candidate.bundle].bundle;
  Result<cache::Variant> variant = bundle.variant(candidate.variant);
  if (!variant) return variant.status();
  Result<cache::Source> source = bundle.source(variant->source);
  if (!source) return source.status();
  const std::shared_ptr<const Trust>& trust = setup.options.trust;
  return overlay_key(setup.target, std::move(*source), std::move(*variant), trust ? trust->scope() : std::string());
}

// Compiles the program a second time, for finalizing: PoCL 3.1 aborts the process when a program's binary is queried
// while one of its kernels runs, or one of another program with the same source and options. So each compilation gets
// an option of its own: a number from 1 on, so that PoCL's own cache has most of them in the next process.
Result<Program> compile_again(const Setup& setup, const Candidate& candidate) {
  static std::atomic<unsigned> count{0};
  const std::string option = " -DCLBAKE_OVERLAY=" + std::to_string(++count);
  return compile_source(setup.context, setup.device, setup.bundles[candidate.bundle].bundle, candidate.variant, option);
}

// The key with a text that means the same anywhere: the files that it includes go with it. Fails when they changed
// since the program got its key.
Result<OverlayKey> self_contained_key(const OverlayKey& key) {
  Result<ProgramText> text = decode_program_text(key.source.text);
  if (!text) return text.status();
  text->options = key.variant.build_options;
  Result<ProgramText> whole = self_contained(*text);
  if (!whole) return whole.status();
  const Result<cache::ContentDigest> now = content_digest(*whole);
  if (!now) return now.status();
  if (*now != key.variant.content) return {Code::io, "files that the program includes have changed meanwhile"};
  cache::Variant variant = key.variant;
  variant.build_options = std::exchange(whole->options, {});
  return overlay_key(key.target, {key.source.name, encode(*whole)}, std::move(variant), key.scope);
}

class OverlayOfPrograms final : public OverlayStore {
 public:
  OverlayOfPrograms(Overlay overlay, OverlayMode mode)
      : overlay_(std::move(overlay)), writable_(mode == OverlayMode::read_write) {}

  bool writable() const override { return writable_; }

  bool has(const Setup& setup, const Candidate& candidate) const override {
    const Result<OverlayKey> key = key_of(setup, candidate);
    return key && overlay_.find(*key).ok();
  }

  Result<Program> load(const Setup& setup, const Candidate& candidate) const override {
    const Result<OverlayKey> key = key_of(setup, candidate);
    if (!key) return key.status();
    const Result<Bundle> bundle = overlay_.find(*key);
    if (!bundle) return bundle.status();
    Status reason(Code::no_entry, "the overlay's file has no program");
    for (const cache::Form form : {cache::Form::native, cache::Form::portable}) {
      const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0, form);
      if (!entry) continue;
      Result<Program> program = load_unless_rejected(setup, candidate, *bundle, *entry);
      if (program) program->explanation.origin = Origin::overlay;
      if (program) return program;
      reason = program.status();
    }
    return reason;
  }

  Result<Program> load_unless_rejected(const Setup& setup, const Candidate& candidate, const Bundle& bundle,
                                       const cache::EntryInfo& entry) const override {
    const Result<OverlayKey> key = key_of(setup, candidate);
    if (!key) return key.status();
    if (overlay_.is_rejected(*key, entry.program.raw_checksum)) {
      return {Code::driver_rejected, "program " + key->variant.name + ": the driver rejected it before"};
    }
    Result<Program> program = load_entry(setup.context, setup.device, bundle, entry);
    if (program.status().code() != Code::driver_rejected) return program;
    const Status marked = overlay_.mark_rejected(*key, entry.program.raw_checksum);
    if (marked) return program;
    // Part of the miss instead of a log line: other threads wait for this load, and `log` may call the library.
    return program.status().with_message(program.status().message() +
                                         "; the overlay could not mark it: " + marked.message());
  }

  Status store(const Setup& setup, const Candidate& candidate, std::shared_ptr<const Program> program) const override {
    const Result<OverlayKey> key = key_of(setup, candidate);
    if (!key) return key.status();
    if (platform_of(setup.target).binaries == Binaries::functions) {
      Result<Program> second = compile_again(setup, candidate);
      if (!second) return second.status();
      program = std::make_shared<const Program>(std::move(*second));
    }
    const auto launch = [&] {
      if (program->variant.is_program()) return Status();  // only its application knows the arguments
      return launch_every_shape(setup.context, setup.device, *program);
    };
    Result<std::vector<cache::Entry>> entries = finalize({setup.target, program->variant, program->program(), launch});
    if (!entries) return entries.status();
    const bool is_given = setup.bundles[candidate.bundle].is_given;
    const Result<OverlayKey> kept = is_given ? self_contained_key(*key) : key;
    return kept ? overlay_.store(*kept, std::move(*entries)) : kept.status();
  }

 private:
  Overlay overlay_;
  bool writable_;
};

}  // namespace

Result<std::shared_ptr<OverlayStore>> open_overlay(const OverlayOptions& options) {
  return exceptions_to_status([&]() -> Result<std::shared_ptr<OverlayStore>> {
    Result<Overlay> overlay = Overlay::open(options);
    if (!overlay) return overlay.status();
    return std::shared_ptr<OverlayStore>(std::make_shared<OverlayOfPrograms>(std::move(*overlay), options.mode));
  });
}

}  // namespace clbake
