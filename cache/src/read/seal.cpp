#include "read/records.hpp"

#include <clbake/cache/reader.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "coding.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::cache {
namespace {

using format::SectionType;

Status check_digests_of(const BundleView& view) {
  if (!view.has_digests()) return {Code::not_trusted, "not trusted: the bundle has no digests"};
  return check_digest_layout(view.layout, view.bytes.size);
}

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

Status check_digest_layout(const Layout& layout, std::uint64_t file_bytes) {
  const auto section = [&](SectionType type) -> const Section& {
    return layout.by_type[static_cast<std::size_t>(type)];
  };
  const Section& digests = section(SectionType::digests);
  const Section& signatures = section(SectionType::signatures);
  if (digests.type == 0 && signatures.type == 0) return {};
  if (digests.type == 0 || signatures.type == 0) {
    return {Code::malformed, "digests and signatures: one without the other"};
  }
  std::uint64_t records = 0;
  // Nothing but the header, the table, the records, the digests and padding lies there: a reader copies it.
  std::uint64_t most = format::header::kBytes + digests.bytes +
                       layout.sections.size() * (format::section::kBytes + format::section::kAlignment) +
                       2 * format::section::kAlignment;
  bool in_front = layout.table_offset < digests.offset;
  for (std::uint32_t type = 1; type <= format::kLastDigested; ++type) {
    records += layout.by_type[type].count;
    most += layout.by_type[type].bytes;
    in_front = in_front && layout.by_type[type].offset <= digests.offset;
  }
  most += section(SectionType::slices).bytes;
  in_front = in_front && section(SectionType::slices).offset <= digests.offset;  // what is absent has offset 0
  if (digests.count != records) return {Code::malformed, "the numbers of digests and of records differ"};
  const std::uint64_t end = digests.offset + digests.bytes;
  const bool before_blobs = end <= section(SectionType::bodies).offset && end <= section(SectionType::programs).offset;
  if (!in_front || !before_blobs) return {Code::malformed, "the digests do not lie between records and blobs"};
  if (end > most) return {Code::malformed, "there are gaps between records and digests"};
  const bool last = layout.sections.back().type == signatures.type;
  if (!last || signatures.offset + signatures.bytes != file_bytes) {
    return {Code::malformed, "the signatures are not the end of the file"};
  }
  return {};
}

std::uint64_t index_end(const BundleView& view) {
  const Section& digests = view.section(SectionType::digests);
  return digests.offset + digests.bytes;
}

Result<std::vector<Signature>> read_signatures(const BundleView& view) {
  std::vector<Signature> all;
  if (Status status = check_digest_layout(view.layout, view.bytes.size); !status) return status;
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
    if (Status status = check_digests_of(view); !status) return status;
    Bytes bytes(view.index.data, view.index.data + index_end(view));
    // The fields that a signature changes.
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
    if (Status status = check_digests_of(view); !status) return status;
    auto state = std::make_shared<State>();
    state->index.assign(view.index.data, view.index.data + index_end(view));
    state->owner = state_;
    BundleView& copy = state->view;
    copy.bytes = view.bytes;
    copy.index = {state->index.data(), state->index.size()};
    copy.guard = std::move(guard);
    Status status = read_layout_in(copy.index, copy.bytes.size, copy.layout);
    if (status) status = check_digest_layout(copy.layout, copy.bytes.size);
    if (!status) return status;
    if (!copy.has_digests() || index_end(copy) != copy.index.size) {
      return Status(Code::malformed, "the bundle was changed while it was opened");
    }
    return Bundle(std::move(state));
  });
}

Status Bundle::check_digests(const Guard& guard) const {
  return exceptions_to_status([&]() -> Status {
    const BundleView& view = state_->view;
    if (!view.has_digests()) return {};
    if (Status status = check_digest_layout(view.layout, view.bytes.size); !status) return status;
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
