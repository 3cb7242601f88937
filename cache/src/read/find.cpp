// Searches for targets, profiles and entries by their keys.
#include <clbake/cache/reader.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "read/records.hpp"

#include <cstring>

namespace clbake::cache {
namespace {

using format::SectionType;

bool same_device(const Target& a, const Target& b) {
  return a.platform_name == b.platform_name && a.vendor == b.vendor && a.device_name == b.device_name &&
         a.architecture == b.architecture && a.address_bits == b.address_bits;
}

// The first devices that something was baked for; those of an offline compiler have an architecture alone.
std::string devices_of(const Bundle& bundle) {
  std::string devices;
  std::uint32_t named = 0;
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target || target->platform_name.empty()) continue;
    if (++named > 3) return devices + ", ...";
    devices += (named == 1 ? ", only for " : ", ") +
               (target->device_name.empty() ? target->architecture : target->device_name);
  }
  return devices;
}

bool same_driver(const Target& a, const Target& b) {
  return a.platform_version == b.platform_version && a.device_version == b.device_version &&
         a.driver_version == b.driver_version;
}

Status other_driver(const Target& made_for, const Target& wanted) {
  return {Code::other_driver,
          joined({wanted.device_name, ": baked for driver ", made_for.driver_version, " (", made_for.platform_version,
                  "), this is ", wanted.driver_version, " (", wanted.platform_version, ")"})};
}

Status lacks(const Target& wanted, std::string_view feature) {
  return {Code::missing_feature,
          joined({wanted.device_name, ": what was baked needs ", feature, ", which this CPU does not have"})};
}

// The target that differs from the wanted one in its CPU features alone, and needs most of those that are there; else
// why there is none. Reads all targets: only devices without a target of their own pay for it.
Result<std::uint32_t> find_with_fewer_features(const Bundle& bundle, const Target& wanted) {
  Result<std::uint32_t> found =
      Status(Code::no_target, joined({wanted.device_name, ": nothing baked for this device", devices_of(bundle)}));
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target || !same_device(*target, wanted)) continue;
    if (!same_driver(*target, wanted)) {
      if (found.status().code() == Code::no_target) found = other_driver(*target, wanted);
      continue;
    }
    const std::string_view missing = missing_feature(*target, wanted);
    if (!missing.empty()) {
      if (!found) found = lacks(wanted, missing);
    } else if (!found || target->cpu_features.size() > most) {
      most = target->cpu_features.size();
      found = i;
    }
  }
  return found;
}

// The index of the target with this encoding, or the number of targets.
Result<std::uint32_t> find_encoded_target(const BundleView& view, ByteView wanted) {
  const std::uint32_t count = view.section(SectionType::targets).count;
  const std::uint64_t hash = xxh64(wanted, 0);
  const Result<LowerBound> bound = find_by_hash(view, hash);
  if (!bound) return bound.status();
  for (std::uint32_t i = bound->i; bound->equal && i < count; ++i) {
    const Result<BlobRecord> record = read_blob_record(view, SectionType::targets, i);
    if (!record) return record.status().within(record_name(SectionType::targets, i));
    if (record->blob.raw_checksum != hash) break;
    Bytes copy;
    const Result<ByteView> body = stored_bytes(view, SectionType::targets, i, record->blob, copy);
    if (!body) return body.status().within(record_name(SectionType::targets, i));
    if (body->size == wanted.size && std::memcmp(body->data, wanted.data, wanted.size) == 0) return i;
  }
  return count;
}

Status no_entry(std::uint32_t target, std::uint32_t variant, const char* form) {
  return {Code::no_entry, joined({"variant ", variant, " has no ", form, "entry for target ", target})};
}

}  // namespace

Result<std::uint32_t> Bundle::find_target(const Target& target) const {
  return exceptions_to_status([&]() -> Result<std::uint32_t> {
    const Bytes wanted = encode_target(target);
    Result<std::uint32_t> found = find_encoded_target(state_->view, {wanted.data(), wanted.size()});
    if (found && *found == target_count()) return find_with_fewer_features(*this, target);
    return found;
  });
}

Result<Profile> Bundle::find_profile(std::uint32_t target) const {
  return exceptions_to_status([&]() -> Result<Profile> {
    const Result<LowerBound> bound = find_by_keys(state_->view, SectionType::profiles, target, 0);
    if (!bound) return bound.status();
    if (!bound->equal) return Status(Code::no_variant, joined({"target ", target, " has no profile"}));
    return profile(bound->i);
  });
}

Result<std::vector<std::uint32_t>> Bundle::find_content(const ContentDigest& content) const {
  return exceptions_to_status([&]() -> Result<std::vector<std::uint32_t>> {
    const BundleView& view = state_->view;
    std::vector<std::uint32_t> found;
    Status damage;
    for (std::uint32_t i = 0; i < variant_count() && content != no_content; ++i) {
      // key0 and key1 are neighbours.
      if (std::memcmp(view.record(SectionType::variants, i) + format::blob::kKey0At, content.data(), 8) != 0) continue;
      const Result<Variant> one = variant(i);
      if (one && one->content == content) found.push_back(i);
      if (!one && damage.ok()) damage = one.status();
    }
    // Only what is not found pays for looking at every record.
    for (std::uint32_t i = 0; i < variant_count() && found.empty() && damage.ok(); ++i) {
      if (!intact(view, SectionType::variants, i)) {
        damage = {Code::checksum, joined({record_name(SectionType::variants, i), ": checksum mismatch"})};
      }
    }
    if (found.empty())
      return damage.ok() ? Status(Code::no_program, "the bundle has no program of this content") : damage;
    return found;
  });
}

Result<EntryInfo> Bundle::find_entry(std::uint32_t target, std::uint32_t variant) const {
  return exceptions_to_status([&]() -> Result<EntryInfo> {
    // Records of one variant are sorted by form: the first is the native one, if there is one.
    const Result<LowerBound> bound = find_by_keys(state_->view, SectionType::index, target, variant);
    if (!bound) return bound.status();
    if (!bound->equal) return no_entry(target, variant, "");
    return entry(bound->i);
  });
}

Result<EntryInfo> Bundle::find_entry(std::uint32_t target, std::uint32_t variant, Form form) const {
  return exceptions_to_status([&]() -> Result<EntryInfo> {
    Result<EntryInfo> first = find_entry(target, variant);
    if (first ? first->form == form : form == Form::native || first.status().code() == Code::no_entry) return first;
    if (form == Form::native) return no_entry(target, variant, "native ");
    // A portable entry follows the native one. It is served even if that one is damaged or of an unknown form.
    const Result<LowerBound> bound = find_by_keys(state_->view, SectionType::index, target, variant);
    if (!bound) return bound.status();
    Result<EntryInfo> second = no_entry(target, variant, "portable ");
    if (bound->i + 1 < entry_count()) second = entry(bound->i + 1);
    if (second && (second->target != target || second->variant != variant || second->form != form)) {
      second = no_entry(target, variant, "portable ");
    }
    return second || first ? std::move(second) : std::move(first);
  });
}

}  // namespace clbake::cache
