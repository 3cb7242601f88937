#include <clbake/baked_programs.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/overlay_directory.hpp>

#include "select/tiers.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace clbake {
namespace {

// The bundle with the device's target; it has no products.
DeviceBundle programs_of(const Bundle& bundle, const Target& device) {
  const Status none(Code::no_variant, {});
  return {bundle, bundle.find_target(device), none, {}, none, {}};
}

}  // namespace

struct BakedPrograms::State {
  std::vector<Bundle> bundles;
  std::optional<Overlay> overlay;

  mutable std::mutex mutex;                                          // guards all below
  mutable std::set<std::pair<std::string, std::uint64_t>> rejected;  // by the key's hash and the program's checksum
  mutable std::optional<std::set<ContentDigest>> parts;              // of the bundles' programs

  Result<BakedBinary> find(const Target& device, const ContentDigest& content) const;
  Result<BakedBinary> find_in(const Bundle& bundle, const cache::EntryInfo& entry, const OverlayKey& key) const;
  Result<BakedBinary> find_learned(const Result<Bundle>& learned, const OverlayKey& key, cache::Form form) const;
  bool is_rejected(const OverlayKey& key, std::uint64_t checksum) const;
};

bool BakedPrograms::State::is_rejected(const OverlayKey& key, std::uint64_t checksum) const {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (rejected.count({key.hash, checksum}) != 0) return true;
  }
  return overlay && overlay->is_rejected(key, checksum);
}

Result<BakedBinary> BakedPrograms::State::find_in(const Bundle& bundle, const cache::EntryInfo& entry,
                                                  const OverlayKey& key) const {
  Result<cache::Variant> variant = bundle.variant(entry.variant);
  const Status launchable = variant ? check_launchable(*variant) : variant.status();
  if (!launchable) return launchable;
  if (is_rejected(key, entry.program.raw_checksum)) {
    return {Code::driver_rejected, joined({"program ", variant->name, ": the driver rejected it before"})};
  }
  Result<cache::Bytes> program = bundle.program(entry);
  if (!program) return program.status();
  BakedBinary binary;
  binary.program = std::move(*program);
  binary.variant = std::move(*variant);
  binary.proof = entry.proof;
  binary.form = entry.form;
  binary.checksum = entry.program.raw_checksum;
  return binary;
}

// `learned`: the overlay's bundle of the key.
Result<BakedBinary> BakedPrograms::State::find_learned(const Result<Bundle>& learned, const OverlayKey& key,
                                                       cache::Form form) const {
  if (!learned) return learned.status();
  const Result<cache::EntryInfo> entry = learned->find_entry(0, 0, form);
  if (!entry) return entry.status();
  Result<BakedBinary> binary = find_in(*learned, *entry, key);
  if (binary) binary->from_overlay = true;
  return binary;
}

Result<BakedBinary> BakedPrograms::State::find(const Target& device, const ContentDigest& content) const {
  const OverlayKey key = overlay_key(device, content);
  std::vector<std::tuple<std::size_t, std::uint32_t, DeviceBundle>> candidates;
  Status miss;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Result<std::vector<std::uint32_t>> found = bundles[i].find_content(content);
    if (!found && miss.ok() && found.status().code() != Code::no_program) miss = found.status();
    if (!found) continue;
    for (const std::uint32_t variant : *found) candidates.emplace_back(i, variant, programs_of(bundles[i], device));
  }
  const auto keep_first = [&](const Status& why) {
    if (miss.ok()) miss = why;
  };
  const auto in_bundles = [&](Tier tier) -> std::optional<BakedBinary> {
    for (const auto& [i, variant, bundle] : candidates) {
      Status none;
      for (const cache::EntryInfo& entry : eligible_entries(bundle, device, variant, tier, none)) {
        Result<BakedBinary> binary = find_in(bundle.bundle, entry, key);
        if (binary) binary->bundle = i;
        if (binary) return std::move(*binary);
        keep_first(binary.status());
      }
      if (!none) keep_first(none);
    }
    return std::nullopt;
  };
  AllowedTiers allowed;
  allowed.source = false;
  Result<Bundle> learned = Status(Code::no_entry, "there is no overlay");
  for (const Tier tier : tiers_of(allowed)) {
    if (tier == Tier::portable) {  // machine code of the overlay needs no compiler
      if (overlay) learned = overlay->find(key);
      Result<BakedBinary> binary = find_learned(learned, key, cache::Form::native);
      if (binary) return binary;
      if (binary.status().code() != Code::no_entry) keep_first(binary.status());
    }
    std::optional<BakedBinary> binary = in_bundles(tier);
    if (binary) return std::move(*binary);
  }
  Result<BakedBinary> portable = find_learned(learned, key, cache::Form::portable);
  if (portable) return portable;
  keep_first(Status(Code::no_program, "neither a bundle nor the overlay has a program of this content"));
  return miss;
}

BakedPrograms::BakedPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
BakedPrograms::BakedPrograms(BakedPrograms&&) noexcept = default;
BakedPrograms& BakedPrograms::operator=(BakedPrograms&&) noexcept = default;
BakedPrograms::~BakedPrograms() = default;

Result<BakedPrograms> BakedPrograms::open(const std::vector<Bundle>& bundles, const OverlayOptions& overlay_options) {
  return exceptions_to_status([&]() -> Result<BakedPrograms> {
    auto state = std::make_unique<State>();
    state->bundles = bundles;
    if (overlay_options.mode != OverlayMode::off || !overlay_options.shared.empty()) {
      Result<Overlay> overlay = Overlay::open(overlay_options);
      if (!overlay) return overlay.status();
      state->overlay = std::move(*overlay);
    }
    return BakedPrograms(std::move(state));
  });
}

Result<BakedBinary> BakedPrograms::find(const Target& device, const ContentDigest& content) const {
  return exceptions_to_status([&] { return state_->find(device, content); });
}

bool BakedPrograms::is_part(const Target& device, const ContentDigest& content) const {
  const State& s = *state_;
  return exceptions_to_status([&]() -> Status {
           {
             const std::lock_guard<std::mutex> lock(s.mutex);
             if (!s.parts) {
               s.parts.emplace();
               for (const Bundle& bundle : s.bundles) {
                 for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
                   const Result<cache::Variant> variant = bundle.variant(i);
                   if (variant) s.parts->insert(variant->parts.begin(), variant->parts.end());
                 }
               }
             }
             if (s.parts->count(content) != 0) return {};
           }
           const bool found = s.overlay && s.overlay->is_part(overlay_key(device, content));
           return found ? Status() : Status(Code::no_entry, {});
         })
      .ok();
}

Status BakedPrograms::reject(const Target& device, const ContentDigest& content, const BakedBinary& binary) const {
  return exceptions_to_status([&] {
    const OverlayKey key = overlay_key(device, content);
    {
      const std::lock_guard<std::mutex> lock(state_->mutex);
      state_->rejected.emplace(key.hash, binary.checksum);
    }
    return state_->overlay ? state_->overlay->mark_rejected(key, binary.checksum) : Status();
  });
}

}  // namespace clbake
