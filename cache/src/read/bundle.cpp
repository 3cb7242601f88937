#include <clbake/cache/reader.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/guard.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "read/records.hpp"
#include "read/state.hpp"

#include <fcntl.h>
#include <cstring>

namespace clbake::cache {
namespace {

using format::SectionType;

// A blob record and its raw bytes, by index. Failures name the record.
struct Body {
  BlobRecord record;
  Bytes raw;

  ByteView view() const { return {raw.data(), raw.size()}; }
};

Result<Body> read_body(const View& view, SectionType type, std::uint32_t i) {
  if (i >= view.section(type).count) {
    return Status(Code::invalid_argument,
                  record_name(type, i) + ": there are " + std::to_string(view.section(type).count));
  }
  Result<BlobRecord> record = read_blob_record(view, type, i);
  if (!record) return record.status().within(record_name(type, i));
  Result<Bytes> raw = unpack_blob(view, *record);
  if (!raw) return raw.status().within(record_name(type, i));
  return Body{*record, std::move(*raw)};
}

template <typename T>
Result<T> named(Result<T> result, SectionType type, std::uint32_t i) {
  if (!result) return result.status().within(record_name(type, i));
  return result;
}

Result<Proof> to_proof(const ProofRecord& record, ByteView texts) {
  Proof proof;
  proof.proven = (record.flags & format::proof::kProven) != 0;
  proof.jit_free = (record.flags & format::proof::kJitFree) != 0;
  proof.create_us = record.create_us;
  proof.build_us = record.build_us;
  proof.kernel_us = record.kernel_us;
  proof.first_us = record.first_us;
  proof.steady_us = record.steady_us;
  proof.max_error = record.max_error;
  proof.tolerance = record.tolerance;
  const Status status = parse_texts(texts, proof);
  if (!status) return status;
  return proof;
}

Result<Proof> read_proof(const View& view, std::uint32_t i, std::uint64_t program_checksum) {
  const Result<ProofRecord> record = read_proof_record(view, i);
  if (!record) return record.status();
  if (record->program_checksum != program_checksum) return Status(Code::malformed, "speaks of another program");
  const Result<ByteView> texts = read_texts(view, *record);
  if (!texts) return texts.status();
  return to_proof(*record, *texts);
}

Result<EntryInfo> read_entry(const View& view, std::uint32_t i) {
  const Result<BlobRecord> record = read_blob_record(view, SectionType::index, i);
  if (!record) return record.status().within(record_name(SectionType::index, i));
  Result<Proof> proof = read_proof(view, i, record->raw_checksum);
  if (!proof) return proof.status().within(record_name(SectionType::proofs, i));
  EntryInfo info;
  info.target = record->key0;
  info.variant = record->key1;
  info.form = static_cast<Form>(record->key2);
  info.newer_driver = record->newer_driver;
  info.proof = std::move(*proof);
  info.offset = record->offset;
  info.stored_bytes = record->stored_bytes;
  info.program_bytes = record->raw_bytes;
  info.stored_checksum = record->stored_checksum;
  info.program_checksum = record->raw_checksum;
  info.compression = record->method;
  return info;
}

std::string entry_name(const EntryInfo& entry) {
  return "program of target " + std::to_string(entry.target) + ", variant " + std::to_string(entry.variant);
}

Result<Bytes> read_program(const View& view, const EntryInfo& entry) {
  if (entry.stored_bytes > format::kMaxProgramBytes || entry.program_bytes > format::kMaxProgramBytes ||
      entry.compression > UINT16_MAX) {
    return Status(Code::invalid_argument, "not an entry of this bundle");
  }
  BlobRecord record;
  record.key0 = entry.target;
  record.key1 = entry.variant;
  record.key2 = static_cast<std::uint16_t>(entry.form);
  record.method = static_cast<std::uint16_t>(entry.compression);
  record.offset = entry.offset;
  record.stored_bytes = static_cast<std::uint32_t>(entry.stored_bytes);
  record.raw_bytes = static_cast<std::uint32_t>(entry.program_bytes);
  record.stored_checksum = entry.stored_checksum;
  record.raw_checksum = entry.program_checksum;
  if (Status status = check_blob_record(view, SectionType::index, record); !status) return status;
  return unpack_blob(view, record);
}

bool same_device(const Target& a, const Target& b) {
  return a.platform_name == b.platform_name && a.vendor == b.vendor && a.device_name == b.device_name &&
         a.architecture == b.architecture && a.address_bits == b.address_bits;
}

// Why no target equals the wanted one. Off the fast path: looks at each of them.
Status why_no_target(const Bundle& bundle, const Target& wanted) {
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target || !same_device(*target, wanted)) continue;
    return {Code::other_driver, wanted.device_name + ": baked for driver " + target->driver_version + " (" +
                                    target->platform_version + "), this is " + wanted.driver_version + " (" +
                                    wanted.platform_version + ")"};
  }
  return {Code::no_target, wanted.device_name + ": nothing baked for this device"};
}

// The index of the target with this canonical encoding, or the targets' count.
Result<std::uint32_t> find_encoded_target(const View& view, ByteView wanted) {
  const std::uint32_t count = view.section(SectionType::targets).count;
  const std::uint64_t hash = xxh64(wanted, 0);
  const Result<Place> place = find_by_hash(view, hash);
  if (!place) return place.status();
  for (std::uint32_t i = place->i; place->equal && i < count; ++i) {
    const Result<BlobRecord> record = read_blob_record(view, SectionType::targets, i);
    if (!record) return record.status().within(record_name(SectionType::targets, i));
    if (record->raw_checksum != hash) break;
    const Result<ByteView> body = stored_blob(view, *record);
    if (!body) return body.status().within(record_name(SectionType::targets, i));
    if (body->size == wanted.size && std::memcmp(body->data, wanted.data, wanted.size) == 0) return i;
  }
  return count;
}

Status null_bytes() { return {Code::invalid_argument, "the bundle's bytes are null"}; }

}  // namespace

Result<Bundle> Bundle::from_memory(ByteView bytes) {
  return guarded([&]() -> Result<Bundle> {
    if (!bytes.data && bytes.size > 0) return null_bytes();
    Result<View> view = read_layout(bytes);
    if (!view) return view.status();
    auto state = std::make_shared<State>();
    state->view = std::move(*view);
    return Bundle(std::move(state));
  });
}

Result<Bundle> Bundle::copy_of(ByteView bytes) {
  return guarded([&]() -> Result<Bundle> {
    if (!bytes.data && bytes.size > 0) return null_bytes();
    auto state = std::make_shared<State>();
    state->copy.resize(bytes.size);
    if (bytes.size > 0) std::memcpy(state->copy.data(), bytes.data, bytes.size);
    Result<View> view = read_layout({state->copy.data(), state->copy.size()});
    if (!view) return view.status();
    state->view = std::move(*view);
    return Bundle(std::move(state));
  });
}

Result<Bundle> Bundle::open(const std::string& path) { return open_at(AT_FDCWD, path); }

Result<Bundle> Bundle::open_at(int directory, const std::string& path) {
  return guarded([&]() -> Result<Bundle> {
    Result<Mapping> mapping = Mapping::of_file(directory, path);
    if (!mapping) return mapping.status().within(path);
    Result<View> view = read_layout(mapping->bytes());
    if (!view) return view.status().within(path);
    auto state = std::make_shared<State>();
    state->mapping = std::move(*mapping);
    state->view = std::move(*view);
    return Bundle(std::move(state));
  });
}

Version Bundle::version() const { return state_->view.layout.version; }
std::uint64_t Bundle::size_bytes() const { return state_->view.bytes.size; }
std::uint32_t Bundle::target_count() const { return state_->view.section(SectionType::targets).count; }
std::uint32_t Bundle::source_count() const { return state_->view.section(SectionType::sources).count; }
std::uint32_t Bundle::variant_count() const { return state_->view.section(SectionType::variants).count; }
std::uint32_t Bundle::profile_count() const { return state_->view.section(SectionType::profiles).count; }
std::uint32_t Bundle::entry_count() const { return state_->view.section(SectionType::index).count; }

Result<Target> Bundle::target(std::uint32_t i) const {
  return guarded([&]() -> Result<Target> {
    const Result<Body> body = read_body(state_->view, SectionType::targets, i);
    if (!body) return body.status();
    return named(parse_target(body->view()), SectionType::targets, i);
  });
}

Result<Source> Bundle::source(std::uint32_t i) const {
  return guarded([&]() -> Result<Source> {
    const Result<Body> body = read_body(state_->view, SectionType::sources, i);
    if (!body) return body.status();
    return named(parse_source(body->view()), SectionType::sources, i);
  });
}

Result<Variant> Bundle::variant(std::uint32_t i) const {
  return guarded([&]() -> Result<Variant> {
    const Result<Body> body = read_body(state_->view, SectionType::variants, i);
    if (!body) return body.status();
    return named(parse_variant(body->view(), source_count()), SectionType::variants, i);
  });
}

Result<Profile> Bundle::profile(std::uint32_t i) const {
  return guarded([&]() -> Result<Profile> {
    const Result<Body> body = read_body(state_->view, SectionType::profiles, i);
    if (!body) return body.status();
    return named(parse_profile(body->view(), body->record.key0, variant_count()), SectionType::profiles, i);
  });
}

Result<EntryInfo> Bundle::entry(std::uint32_t i) const {
  return guarded([&]() -> Result<EntryInfo> {
    if (i >= entry_count()) {
      return Status(Code::invalid_argument,
                    record_name(SectionType::index, i) + ": there are " + std::to_string(entry_count()));
    }
    return read_entry(state_->view, i);
  });
}

Result<std::uint32_t> Bundle::find_target(const Target& target) const {
  return guarded([&]() -> Result<std::uint32_t> {
    const Bytes wanted = encode_target(target);
    Result<std::uint32_t> found = find_encoded_target(state_->view, {wanted.data(), wanted.size()});
    if (found.ok() && *found == target_count()) return why_no_target(*this, target);
    return found;
  });
}

Result<Profile> Bundle::find_profile(std::uint32_t target) const {
  return guarded([&]() -> Result<Profile> {
    const Result<Place> place = find_by_keys(state_->view, SectionType::profiles, target, 0);
    if (!place) return place.status();
    if (!place->equal) return Status(Code::no_variant, "target " + std::to_string(target) + " has no profile");
    return profile(place->i);
  });
}

Result<EntryInfo> Bundle::find_entry(std::uint32_t target, std::uint32_t variant) const {
  return guarded([&]() -> Result<EntryInfo> {
    // Forms are in ascending order within one variant, so that the first record is the native one, if there is one.
    const Result<Place> place = find_by_keys(state_->view, SectionType::index, target, variant);
    if (!place) return place.status();
    if (!place->equal) {
      return Status(Code::no_entry,
                    "variant " + std::to_string(variant) + " was not baked for target " + std::to_string(target));
    }
    return read_entry(state_->view, place->i);
  });
}

Result<EntryInfo> Bundle::find_entry(std::uint32_t target, std::uint32_t variant, Form form) const {
  return guarded([&]() -> Result<EntryInfo> {
    Result<EntryInfo> first = find_entry(target, variant);
    if (first.ok() ? first->form == form : form == Form::native || first.status().code() == Code::no_entry) {
      return first;
    }
    const std::string missing = form == Form::native ? "no native" : "no portable";
    const Status none(Code::no_entry, "variant " + std::to_string(variant) + " has " + missing + " entry for target " +
                                          std::to_string(target));
    if (form == Form::native) return none;
    // The native form comes first: behind it the portable one may follow, which the same search finds next. That the
    // native one is damaged, or of a kind that this reader does not know, is no reason to refuse the other.
    const Result<Place> place = find_by_keys(state_->view, SectionType::index, target, variant);
    if (!place) return place.status();
    const std::uint32_t next = place->i + 1;
    Result<EntryInfo> second = next < entry_count() ? read_entry(state_->view, next) : Result<EntryInfo>(none);
    if (second && (second->target != target || second->variant != variant || second->form != form)) second = none;
    return second || first ? std::move(second) : std::move(first);
  });
}

Result<Bytes> Bundle::program(const EntryInfo& entry) const {
  return guarded([&]() -> Result<Bytes> {
    Result<Bytes> program = read_program(state_->view, entry);
    if (!program) return program.status().within(entry_name(entry));
    return program;
  });
}

}  // namespace clbake::cache
