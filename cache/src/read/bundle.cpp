// Opens bundles and reads their records by index.
#include <clbake/cache/reader.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/os/files.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "read/records.hpp"

#include <utility>

namespace clbake::cache {
namespace {

using format::SectionType;

// A blob record and its raw bytes.
struct Body {
  BlobRecord record;
  Bytes raw;
};

Status no_such_record(const BundleView& view, SectionType type, std::uint32_t i) {
  return {Code::invalid_argument, joined({record_name(type, i), ": there are ", view.section(type).count})};
}

Result<Body> read_body(const BundleView& view, SectionType type, std::uint32_t i) {
  if (i >= view.section(type).count) return no_such_record(view, type, i);
  Result<BlobRecord> record = read_blob_record(view, type, i);
  if (!record) return record.status().within(record_name(type, i));
  Result<Bytes> raw = unpack(view, type, i, record->blob);
  if (!raw) return raw.status().within(record_name(type, i));
  return Body{*record, std::move(*raw)};
}

// Reads and parses a record's body.
template <typename T, typename Parse>
Result<T> read_item(const BundleView& view, SectionType type, std::uint32_t i, Parse parse) {
  return exceptions_to_status([&]() -> Result<T> {
    const Result<Body> body = read_body(view, type, i);
    if (!body) return body.status();
    Result<T> item = parse(ByteView{body->raw.data(), body->raw.size()}, body->record);
    if (!item) return item.status().within(record_name(type, i));
    return item;
  });
}

Result<Proof> read_proof(const BundleView& view, std::uint32_t i, std::uint64_t program_checksum) {
  Result<ProofRecord> record = read_proof_record(view, i);
  if (!record) return record.status();
  if (record->program_checksum != program_checksum) return Status(Code::malformed, "belongs to another program");
  Bytes copy;
  const Result<ByteView> texts = read_texts(view, i, *record, copy);
  if (!texts) return texts.status();
  if (Status status = parse_texts(*texts, record->proof); !status) return status;
  return std::move(record->proof);
}

Result<EntryInfo> read_entry(const BundleView& view, std::uint32_t i) {
  const Result<BlobRecord> record = read_blob_record(view, SectionType::index, i);
  if (!record) return record.status().within(record_name(SectionType::index, i));
  Result<Proof> proof = read_proof(view, i, record->blob.raw_checksum);
  if (!proof) return proof.status().within(record_name(SectionType::proofs, i));
  const bool newer_driver = (record->flags & format::blob::kNewerDriver) != 0;
  return EntryInfo{
      i, record->key0, record->key1, static_cast<Form>(record->key2), newer_driver, std::move(*proof), record->blob};
}

Result<Bytes> read_program(const BundleView& view, const EntryInfo& entry) {
  if (Status status = check_blob(view, SectionType::index, entry.program); !status) return status;
  if (entry.index >= view.section(SectionType::index).count) {
    return Status(Code::malformed, "is no index record of this bundle");
  }
  return unpack(view, SectionType::index, entry.index, entry.program);
}

// Appends what `read` gives for 0 .. count-1.
template <typename T, typename Read>
Status collect(std::vector<T>& into, std::uint32_t count, Read read) {
  into.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Result<T> item = read(i);
    if (!item) return item.status();
    into.push_back(std::move(*item));
  }
  return {};
}

Result<Entry> read_whole_entry(const Bundle& bundle, std::uint32_t i) {
  Result<EntryInfo> info = bundle.entry(i);
  if (!info) return info.status();
  Result<Bytes> program = bundle.program(*info);
  if (!program) return program.status();
  return Entry{info->target,           info->variant,       info->form,
               std::move(info->proof), std::move(*program), info->newer_driver};
}

}  // namespace

// `owner`: of the bytes; null if the caller owns them.
Result<Bundle> Bundle::State::open(std::shared_ptr<const void> owner, ByteView bytes) {
  if (!bytes.data && bytes.size > 0) return {Code::invalid_argument, "the bundle's bytes are null"};
  auto state = std::make_shared<State>();
  state->owner = std::move(owner);
  state->view.bytes = state->view.index = bytes;
  if (Status status = read_layout_in(bytes, bytes.size, state->view.layout); !status) return status;
  return Bundle(std::move(state));
}

Result<Bundle> Bundle::from_memory(ByteView bytes) { return from_memory(bytes, nullptr); }

Result<Bundle> Bundle::copy_of(ByteView bytes) {
  return exceptions_to_status([&] {
    if (!bytes.data) return State::open(nullptr, bytes);
    auto copy = std::make_shared<const Bytes>(bytes.data, bytes.data + bytes.size);
    const ByteView view{copy->data(), copy->size()};
    return State::open(std::move(copy), view);
  });
}

Result<Bundle> Bundle::from_memory(ByteView bytes, std::shared_ptr<const void> owner) {
  return exceptions_to_status([&] { return State::open(std::move(owner), bytes); });
}

Result<Bundle> Bundle::open(const std::string& path) {
  return exceptions_to_status([&]() -> Result<Bundle> {
    Result<os::Mapping> file = os::map_file(path);
    if (!file) return file.status();
    Result<Bundle> bundle = State::open(std::move(file->owner), {file->data, file->size});
    return bundle ? std::move(bundle) : bundle.status().within(path);
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
  return read_item<Target>(state_->view, SectionType::targets, i,
                           [](ByteView body, const BlobRecord&) { return parse_target(body); });
}

Result<Source> Bundle::source(std::uint32_t i) const {
  return read_item<Source>(state_->view, SectionType::sources, i,
                           [](ByteView body, const BlobRecord&) { return parse_source(body); });
}

Result<Variant> Bundle::variant(std::uint32_t i) const {
  return read_item<Variant>(state_->view, SectionType::variants, i, [&](ByteView body, const BlobRecord& record) {
    Result<Variant> variant = parse_variant(body, source_count());
    if (!variant) return variant;
    const std::uint8_t* content = variant->content.data();
    if (record.key0 == load32(content) && record.key1 == load32(content + 4)) return variant;
    return Result<Variant>(Code::malformed, "its keys are not those of its content");
  });
}

Result<Profile> Bundle::profile(std::uint32_t i) const {
  return read_item<Profile>(state_->view, SectionType::profiles, i, [&](ByteView body, const BlobRecord& record) {
    return parse_profile(body, record.key0, variant_count());
  });
}

Result<EntryInfo> Bundle::entry(std::uint32_t i) const {
  return exceptions_to_status([&]() -> Result<EntryInfo> {
    if (i >= entry_count()) return no_such_record(state_->view, SectionType::index, i);
    return read_entry(state_->view, i);
  });
}

Result<Bytes> Bundle::program(const EntryInfo& entry) const {
  return exceptions_to_status([&]() -> Result<Bytes> {
    Result<Bytes> program = read_program(state_->view, entry);
    if (program) return program;
    return program.status().within(joined({"program of target ", entry.target, ", variant ", entry.variant}));
  });
}

Result<Contents> Bundle::decode() const {
  return exceptions_to_status([&]() -> Result<Contents> {
    Contents all;
    Status status = collect(all.targets, target_count(), [&](std::uint32_t i) { return target(i); });
    if (status) status = collect(all.sources, source_count(), [&](std::uint32_t i) { return source(i); });
    if (status) status = collect(all.variants, variant_count(), [&](std::uint32_t i) { return variant(i); });
    if (status) status = collect(all.profiles, profile_count(), [&](std::uint32_t i) { return profile(i); });
    if (status) {
      status = collect(all.entries, entry_count(), [&](std::uint32_t i) { return read_whole_entry(*this, i); });
    }
    if (!status) return status;
    return all;
  });
}

}  // namespace clbake::cache
