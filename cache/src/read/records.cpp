#include "read/records.hpp"

#include <clbake/cache/xxh64.hpp>
#include <clbake/joined.hpp>

#include "coding.hpp"

#include <zstd.h>
#include <zstd_errors.h>
#include <memory>
#include <utility>

namespace clbake::cache {
namespace {

using format::Method;
using format::SectionType;

bool inside(const Section& area, std::uint64_t offset, std::uint64_t bytes) {
  return offset >= area.offset && offset - area.offset <= area.bytes && bytes <= area.bytes - (offset - area.offset);
}

Status check_keys(const BundleView& view, SectionType type, const BlobRecord& record) {
  const bool has_content = type == SectionType::variants;  // key0 and key1, which are in the body, too
  const bool has_target = type == SectionType::profiles || type == SectionType::index;
  if (has_target && record.key0 >= view.section(SectionType::targets).count) {
    return {Code::malformed, joined({"names target ", record.key0, ", which does not exist"})};
  }
  if (type != SectionType::index) {
    const bool rest_is_zero =
        (has_content || ((has_target || record.key0 == 0) && record.key1 == 0)) && record.key2 == 0;
    return rest_is_zero ? Status() : Status(Code::malformed, "has a key that must be 0");
  }
  if (record.key1 >= view.section(SectionType::variants).count) {
    return {Code::malformed, joined({"names variant ", record.key1, ", which does not exist"})};
  }
  if (record.key2 != static_cast<std::uint16_t>(Form::native) &&
      record.key2 != static_cast<std::uint16_t>(Form::portable)) {
    return {Code::unsupported_version, joined({"unknown form ", record.key2})};
  }
  return {};
}

Status check_method(SectionType type, const Blob& blob) {
  if (blob.method == static_cast<std::uint16_t>(Method::none)) {
    if (blob.dictionary != 0) return {Code::malformed, "has a dictionary, but is not compressed"};
    const bool same = blob.stored_bytes == blob.raw_bytes && blob.stored_checksum == blob.raw_checksum;
    return same ? Status() : Status(Code::malformed, "stored and raw bytes differ without compression");
  }
  if (blob.method != static_cast<std::uint16_t>(Method::zstd)) {
    return {Code::unsupported_version, joined({"unknown compression method ", blob.method})};
  }
  if (type == SectionType::targets) return {Code::malformed, "a target must not be compressed"};
  const bool smaller = blob.stored_bytes < blob.raw_bytes;
  return smaller ? Status() : Status(Code::malformed, "the compressed bytes are not fewer than the raw bytes");
}

// The sizes that the zstd frame declares, checked before anything is allocated.
Status check_frame(ByteView stored, std::uint32_t raw_bytes) {
  if (ZSTD_getFrameContentSize(stored.data, stored.size) != raw_bytes) {
    return {Code::malformed, "the compressed frame declares another size"};
  }
  if (ZSTD_findFrameCompressedSize(stored.data, stored.size) != stored.size) {
    return {Code::malformed, "not exactly one compressed frame"};
  }
  return {};
}

// The verified stored bytes are decompressed into `raw`, which has the size that their frame declares.
Status decompress(ByteView stored, ByteView dictionary, Bytes& raw) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr) return {Code::out_of_memory, "zstd: out of memory"};
  // A prefix is used in place and never parsed, whatever its bytes are.
  std::size_t size = ZSTD_DCtx_refPrefix(context.get(), dictionary.data, dictionary.size);
  if (ZSTD_isError(size) == 0) {
    size = ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data, stored.size);
  }
  // Says nothing of the bytes: an overlay removes what is malformed.
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) return {Code::out_of_memory, "zstd: out of memory"};
  if (ZSTD_isError(size) != 0) {
    return {Code::malformed, std::string("zstd refuses the bytes: ") + ZSTD_getErrorName(size)};
  }
  return {};
}

// Bytes that record i points to: nothing before it has looked at them under a guard.
Result<ByteView> guarded(const BundleView& view, SectionType type, std::uint32_t i, ByteView bytes, Bytes& copy) {
  return view.guard == nullptr ? bytes : view.guard->admit(bytes, view.digest(type, i), copy);
}

// `dictionary`: empty if the blob needs none.
Result<Bytes> unpack_with(const BundleView& view, SectionType type, std::uint32_t i, const Blob& blob,
                          ByteView dictionary) {
  Bytes copy;
  const Result<ByteView> stored = stored_bytes(view, type, i, blob, copy);
  if (!stored) return stored.status();
  if (blob.method == static_cast<std::uint16_t>(Method::none)) {
    if (!copy.empty()) return Bytes(std::move(copy));
    return Bytes(stored->data, stored->data + stored->size);
  }
  if (Status status = check_frame(*stored, blob.raw_bytes); !status) return status;
  Bytes raw(blob.raw_bytes);
  if (Status status = decompress(*stored, dictionary, raw); !status) return status;
  if (xxh64(raw.data(), raw.size(), 0) != blob.raw_checksum) {
    return Status(Code::checksum, "decompressed bytes: checksum mismatch");
  }
  return raw;
}

Result<Bytes> read_dictionary(const BundleView& view, std::uint32_t entry) {
  const Result<BlobRecord> record = read_blob_record(view, SectionType::index, entry);
  if (!record) return record.status();
  if (record->blob.dictionary != 0) return Status(Code::malformed, "is a dictionary and has one");
  if (record->blob.raw_bytes > format::kMaxDictionaryBytes)
    return Status(Code::malformed, "too large for a dictionary");
  return unpack_with(view, SectionType::index, entry, record->blob, {});
}

}  // namespace

std::string record_name(SectionType type, std::uint32_t i) { return joined({name(type), " record ", i}); }

bool intact(const BundleView& view, SectionType type, std::uint32_t i) {
  const std::uint8_t* p = view.record(type, i);
  return load64(p + format::kRecordChecksumAt) == xxh64(p, format::kRecordChecksumAt, format::record_seed(type, i));
}

Status check_blob(const BundleView& view, SectionType type, const Blob& blob) {
  if (Status status = check_method(type, blob); !status) return status;
  if (blob.dictionary > view.section(SectionType::index).count) {
    return {Code::malformed, "names a dictionary that does not exist"};
  }
  if (blob.stored_bytes == 0 || blob.raw_bytes > format::known(type).max_raw_bytes) {
    return {Code::malformed, joined({"impossible size of ", blob.raw_bytes, " bytes"})};
  }
  const SectionType area = type == SectionType::index ? SectionType::programs : SectionType::bodies;
  if (!inside(view.section(area), blob.offset, blob.stored_bytes)) {
    return {Code::malformed, joined({"points outside the ", name(area)})};
  }
  return {};
}

Result<BlobRecord> read_blob_record(const BundleView& view, SectionType type, std::uint32_t i) {
  if (!intact(view, type, i)) return Status(Code::checksum, "checksum mismatch");
  BlobRecord record;
  describe(LoadFields{view.record(type, i)}, record);
  const std::uint32_t known_flags = type == SectionType::index ? format::blob::kNewerDriver : 0;
  if ((record.blob.dictionary != 0 && type != SectionType::index) ||
      (record.flags & format::kRefusedFlags & ~known_flags) != 0 || record.reserved != 0) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  if (Status status = check_keys(view, type, record); !status) return status;
  if (Status status = check_blob(view, type, record.blob); !status) return status;
  return record;
}

Result<ProofRecord> read_proof_record(const BundleView& view, std::uint32_t i) {
  namespace at = format::proof;
  if (!intact(view, SectionType::proofs, i)) return Status(Code::checksum, "checksum mismatch");
  ProofRecord record;
  describe(LoadFields{view.record(SectionType::proofs, i)}, record);
  if ((record.flags & format::kRefusedFlags & ~(at::kProven | at::kJitFree)) != 0) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  record.proof.proven = (record.flags & at::kProven) != 0;
  record.proof.jit_free = (record.flags & at::kJitFree) != 0;
  if (record.texts_bytes > format::kMaxTextsBytes) return Status(Code::malformed, "the texts are too long");
  const Section& bodies = view.section(SectionType::bodies);
  const bool inside_bodies = record.texts_bytes == 0
                                 ? record.texts_offset == 0
                                 : inside(bodies, bodies.offset + record.texts_offset, record.texts_bytes);
  if (!inside_bodies) return Status(Code::malformed, "the texts lie outside the bodies");
  return record;
}

Result<ByteView> stored_bytes(const BundleView& view, SectionType type, std::uint32_t i, const Blob& blob,
                              Bytes& copy) {
  Result<ByteView> admitted = guarded(view, type, i, view.slice(blob.offset, blob.stored_bytes), copy);
  if (!admitted) return admitted;
  const ByteView stored = *admitted;
  if (xxh64(stored, 0) != blob.stored_checksum)
    return Status(Code::checksum,
                  type == SectionType::proofs ? "texts: checksum mismatch" : "stored bytes: checksum mismatch");
  return stored;
}

Result<Bytes> unpack(const BundleView& view, SectionType type, std::uint32_t i, const Blob& blob) {
  if (blob.dictionary == 0) return unpack_with(view, type, i, blob, {});
  const std::uint32_t entry = blob.dictionary - 1;
  std::shared_ptr<const Bytes> dictionary = view.last_dictionary->find(entry);
  if (dictionary == nullptr) {
    Result<Bytes> read = read_dictionary(view, entry);
    if (!read) return read.status().within(joined({"its dictionary, ", record_name(SectionType::index, entry)}));
    dictionary = std::make_shared<const Bytes>(std::move(*read));
    view.last_dictionary->keep(entry, dictionary);
  }
  return unpack_with(view, type, i, blob, {dictionary->data(), dictionary->size()});
}

Result<ByteView> read_texts(const BundleView& view, std::uint32_t i, const ProofRecord& record, Bytes& copy) {
  Blob blob;
  blob.offset = view.section(SectionType::bodies).offset + record.texts_offset;
  blob.stored_bytes = record.texts_bytes;
  blob.stored_checksum = record.texts_checksum;
  return stored_bytes(view, SectionType::proofs, i, blob, copy);
}

}  // namespace clbake::cache
