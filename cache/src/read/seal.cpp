#include "read/seal.hpp"

#include <clbake/cache/reader.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "coding.hpp"
#include "read/records.hpp"
#include "read/state.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::cache {
namespace {

using format::SectionType;

Status no_digests() { return {Code::not_trusted, "not trusted: the bundle has no digests"}; }

Result<Signature> read_signature(const std::uint8_t* p, std::uint32_t i) {
  namespace at = format::signature;
  const std::uint64_t seed = format::record_seed(SectionType::signatures, i);
  if (load64(p + at::kChecksumAt) != xxh64(p, at::kChecksumAt, seed)) {
    return Status(Code::checksum, "checksum mismatch");
  }
  const bool reserved = std::any_of(p + at::kReservedAt, p + at::kChecksumAt, [](auto byte) { return byte != 0; });
  if ((load32(p + at::kFlagsAt) & format::kRefusedFlags) != 0 || reserved) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  Signature signature;
  std::memcpy(signature.public_key.data(), p + at::kPublicKeyAt, signature.public_key.size());
  std::memcpy(signature.signature.data(), p + at::kSignatureAt, signature.signature.size());
  signature.release = load64(p + at::kReleaseAt);
  return signature;
}

// The bytes that record i of a section points to. The record is verified, what it points to is not.
Result<ByteView> bytes_of_record(const BundleView& view, SectionType type, std::uint32_t i) {
  if (type != SectionType::proofs) {
    const Result<BlobRecord> record = read_blob_record(view, type, i);
    if (!record) return record.status();
    return view.slice(record->blob.offset, record->blob.stored_bytes);
  }
  const Result<ProofRecord> record = read_proof_record(view, i);
  if (!record) return record.status();
  return view.slice(view.section(SectionType::bodies).offset + record->texts_offset, record->texts_bytes);
}

}  // namespace

std::uint64_t index_end(const BundleView& view) {
  const Section& digests = view.section(SectionType::digests);
  return digests.offset + digests.bytes;
}

Result<std::vector<Signature>> read_signatures(const BundleView& view) {
  std::vector<Signature> all;
  const Section& section = view.section(SectionType::signatures);
  for (std::uint32_t i = 0; i < section.count; ++i) {
    // A copy: whoever changes the file now changes nothing.
    std::uint8_t record[format::signature::kBytes];
    std::memcpy(record, view.bytes.data + section.offset + std::size_t{i} * sizeof record, sizeof record);
    const Result<Signature> signature = read_signature(record, i);
    if (!signature) return signature.status().within(record_name(SectionType::signatures, i));
    if (i > 0 && signature->public_key <= all.back().public_key) {
      return Status(Code::malformed,
                    record_name(SectionType::signatures, i) + ": its key is there twice, or out of order");
    }
    all.push_back(*signature);
  }
  return all;
}

bool Bundle::has_digests() const { return state_->view.has_digests(); }

Result<std::vector<Signature>> Bundle::signatures() const {
  return exceptions_to_status([&] { return read_signatures(state_->view); });
}

Result<Bytes> Bundle::identified_bytes() const {
  return exceptions_to_status([&]() -> Result<Bytes> {
    namespace at = format::section;
    const BundleView& view = state_->view;
    if (!view.has_digests()) return no_digests();
    Bytes bytes(view.index.data, view.index.data + index_end(view));
    // What a signature changes.
    store64(&bytes[format::header::kFileBytesAt], 0);
    store64(&bytes[format::header::kTableChecksumAt], 0);
    store64(&bytes[format::header::kChecksumAt], 0);
    std::uint8_t* last = &bytes[view.layout.table_offset + (view.layout.sections.size() - 1) * at::kBytes];
    for (const std::size_t field : {at::kBytesAt, at::kCountAt, at::kChecksumAt}) store64(last + field, 0);
    return bytes;
  });
}

Result<Bundle> Bundle::guarded_by(std::shared_ptr<const Guard> guard) const {
  return exceptions_to_status([&]() -> Result<Bundle> {
    const BundleView& view = state_->view;
    if (!view.has_digests()) return no_digests();
    auto state = std::make_shared<State>();
    state->index.assign(view.index.data, view.index.data + index_end(view));
    state->original = state_;
    state->guard = std::move(guard);
    const ByteView index{state->index.data(), state->index.size()};
    Result<Layout> layout = read_layout_in(index, view.bytes.size);
    if (!layout) return layout.status();
    state->view = {view.bytes, index, state->guard.get(), std::move(*layout)};
    if (!state->view.has_digests() || index_end(state->view) != index.size) {
      return Status(Code::malformed, "the bundle was changed while it was opened");
    }
    return Bundle(std::move(state));
  });
}

Status Bundle::check_digests(const Guard& guard) const {
  return exceptions_to_status([&]() -> Status {
    const BundleView& view = state_->view;
    if (!view.has_digests()) return {};
    Bytes copy;
    for (std::uint32_t type = 1; type <= format::kLastDigested; ++type) {
      const auto section = static_cast<SectionType>(type);
      for (std::uint32_t i = 0; i < view.section(section).count; ++i) {
        const Result<ByteView> bytes = bytes_of_record(view, section, i);
        const Status status = bytes ? guard.admit(*bytes, view.digest(section, i), copy).status() : bytes.status();
        if (!status) return status.within(record_name(section, i));
      }
    }
    return {};
  });
}

Result<Bundle> Bundle::nothing() {
  return exceptions_to_status([]() -> Result<Bundle> { return Bundle(std::make_shared<State>()); });
}

}  // namespace clbake::cache
