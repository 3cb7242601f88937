#include "read/records.hpp"

#include <clbake/cache/xxh64.hpp>

#include "coding.hpp"

#include <zstd.h>

namespace clbake::cache {
namespace {

using format::Method;
using format::SectionType;

constexpr std::uint64_t kChecksumOfNothing = 0xEF46DB3751D8E999;  // XXH64 of no bytes, seed 0

std::uint64_t max_raw_bytes(SectionType type) {
  switch (type) {
    case SectionType::targets: return format::kMaxTargetBytes;
    case SectionType::sources: return format::kMaxSourceBytes;
    case SectionType::variants: return format::kMaxVariantBytes;
    case SectionType::profiles: return format::kMaxProfileBytes;
    case SectionType::index: return format::kMaxProgramBytes;
    default: return 0;
  }
}

bool inside(const Section& area, std::uint64_t offset, std::uint64_t bytes) {
  return offset >= area.offset && offset - area.offset <= area.bytes && bytes <= area.bytes - (offset - area.offset);
}

Status check_keys(const View& view, SectionType type, const BlobRecord& record) {
  const bool keyed = type == SectionType::profiles || type == SectionType::index;
  if (keyed ? record.key0 >= view.section(SectionType::targets).count : record.key0 != 0) {
    return {Code::malformed, "names target " + std::to_string(record.key0) + ", which does not exist"};
  }
  if (type != SectionType::index) {
    return record.key1 == 0 && record.key2 == 0 ? Status() : Status(Code::malformed, "has a key that must be 0");
  }
  if (record.key1 >= view.section(SectionType::variants).count) {
    return {Code::malformed, "names variant " + std::to_string(record.key1) + ", which does not exist"};
  }
  if (record.key2 != static_cast<std::uint16_t>(Form::native) &&
      record.key2 != static_cast<std::uint16_t>(Form::portable)) {
    return {Code::unsupported_version, "unknown form " + std::to_string(record.key2)};
  }
  return {};
}

Status check_method(SectionType type, const BlobRecord& record) {
  if (record.method == static_cast<std::uint16_t>(Method::none)) {
    const bool same = record.stored_bytes == record.raw_bytes && record.stored_checksum == record.raw_checksum;
    return same ? Status() : Status(Code::malformed, "stored and raw bytes differ without compression");
  }
  if (record.method != static_cast<std::uint16_t>(Method::zstd)) {
    return {Code::unsupported_version, "unknown compression method " + std::to_string(record.method)};
  }
  if (type == SectionType::targets) return {Code::malformed, "a target must not be compressed"};
  const bool shrunk = record.stored_bytes < record.raw_bytes;
  return shrunk ? Status() : Status(Code::malformed, "compressed bytes are not fewer than raw bytes");
}

// What the frame says of itself, before anything is allocated for it.
Status check_frame(ByteView stored, std::uint32_t raw_bytes) {
  if (ZSTD_getFrameContentSize(stored.data, stored.size) != raw_bytes) {
    return {Code::malformed, "the compressed frame declares another size"};
  }
  if (ZSTD_findFrameCompressedSize(stored.data, stored.size) != stored.size) {
    return {Code::malformed, "not exactly one compressed frame"};
  }
  return {};
}

}  // namespace

std::string record_name(SectionType type, std::uint32_t i) {
  return std::string(name(type)) + " record " + std::to_string(i);
}

bool intact(const View& view, SectionType type, std::uint32_t i) {
  const std::uint8_t* p = view.record(type, i);
  return load64(p + format::kRecordChecksumAt) == xxh64(p, format::kRecordChecksumAt, record_seed(type, i));
}

Status check_blob_record(const View& view, SectionType type, const BlobRecord& record) {
  if (Status status = check_keys(view, type, record); !status) return status;
  if (Status status = check_method(type, record); !status) return status;
  if (record.stored_bytes == 0 || record.raw_bytes > max_raw_bytes(type)) {
    return {Code::malformed, "impossible size of " + std::to_string(record.raw_bytes) + " bytes"};
  }
  const SectionType area = type == SectionType::index ? SectionType::programs : SectionType::bodies;
  if (!inside(view.section(area), record.offset, record.stored_bytes)) {
    return {Code::malformed, "points outside the " + std::string(name(area))};
  }
  return {};
}

Result<BlobRecord> read_blob_record(const View& view, SectionType type, std::uint32_t i) {
  namespace at = format::blob;
  if (!intact(view, type, i)) return Status(Code::checksum, "checksum mismatch");
  const std::uint8_t* p = view.record(type, i);
  const std::uint32_t flags = load32(p + at::kFlagsAt);
  const std::uint32_t known_flags = type == SectionType::index ? at::kNewerDriver : 0;
  if (load32(p + at::kDictionaryAt) != 0 || (flags & format::kRefusedFlags & ~known_flags) != 0 ||
      load32(p + at::kReservedAt) != 0) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  BlobRecord record;
  record.key0 = load32(p + at::kKey0At);
  record.key1 = load32(p + at::kKey1At);
  record.key2 = load16(p + at::kKey2At);
  record.method = load16(p + at::kMethodAt);
  record.offset = load64(p + at::kOffsetAt);
  record.stored_bytes = load32(p + at::kStoredBytesAt);
  record.raw_bytes = load32(p + at::kRawBytesAt);
  record.stored_checksum = load64(p + at::kStoredChecksumAt);
  record.raw_checksum = load64(p + at::kRawChecksumAt);
  record.newer_driver = (flags & known_flags) != 0;
  if (Status status = check_blob_record(view, type, record); !status) return status;
  return record;
}

Result<ProofRecord> read_proof_record(const View& view, std::uint32_t i) {
  namespace at = format::proof;
  if (!intact(view, SectionType::proofs, i)) return Status(Code::checksum, "checksum mismatch");
  const std::uint8_t* p = view.record(SectionType::proofs, i);
  ProofRecord record;
  record.flags = load32(p + at::kFlagsAt);
  if ((record.flags & format::kRefusedFlags & ~(at::kProven | at::kJitFree)) != 0) {
    return Status(Code::unsupported_version, "asks for a feature that this reader lacks");
  }
  record.create_us = load_f32(p + at::kCreateAt);
  record.build_us = load_f32(p + at::kBuildAt);
  record.kernel_us = load_f32(p + at::kKernelAt);
  record.first_us = load_f32(p + at::kFirstAt);
  record.steady_us = load_f32(p + at::kSteadyAt);
  record.max_error = load_f32(p + at::kMaxErrorAt);
  record.tolerance = load_f32(p + at::kToleranceAt);
  record.texts_bytes = load32(p + at::kTextsBytesAt);
  record.texts_offset = load32(p + at::kTextsOffsetAt);
  record.texts_checksum = load64(p + at::kTextsChecksumAt);
  record.program_checksum = load64(p + at::kProgramChecksumAt);
  if (record.texts_bytes > format::kMaxTextsBytes) return Status(Code::malformed, "the texts are too long");
  const Section& bodies = view.section(SectionType::bodies);
  const bool placed = record.texts_bytes == 0 ? record.texts_offset == 0
                                              : inside(bodies, bodies.offset + record.texts_offset, record.texts_bytes);
  if (!placed) return Status(Code::malformed, "the texts lie outside the bodies");
  return record;
}

Result<ByteView> stored_blob(const View& view, const BlobRecord& record) {
  const ByteView stored = view.slice(record.offset, record.stored_bytes);
  if (xxh64(stored, 0) != record.stored_checksum) return Status(Code::checksum, "stored bytes: checksum mismatch");
  return stored;
}

Result<Bytes> unpack_blob(const View& view, const BlobRecord& record) {
  const Result<ByteView> stored = stored_blob(view, record);
  if (!stored) return stored.status();
  if (record.method == static_cast<std::uint16_t>(Method::none)) {
    return Bytes(stored->data, stored->data + stored->size);
  }
  if (Status status = check_frame(*stored, record.raw_bytes); !status) return status;
  Bytes raw(record.raw_bytes);
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), stored->data, stored->size);
  if (ZSTD_isError(size) != 0) {
    return Status(Code::malformed, std::string("zstd refuses the bytes: ") + ZSTD_getErrorName(size));
  }
  if (size != raw.size()) return Status(Code::malformed, "decompressed to another size");
  if (xxh64(raw.data(), raw.size(), 0) != record.raw_checksum) {
    return Status(Code::checksum, "decompressed bytes: checksum mismatch");
  }
  return raw;
}

Result<ByteView> read_texts(const View& view, const ProofRecord& record) {
  const std::uint64_t bodies = view.section(SectionType::bodies).offset;
  const ByteView texts = view.slice(bodies + record.texts_offset, record.texts_bytes);
  const std::uint64_t checksum = texts.size == 0 ? kChecksumOfNothing : xxh64(texts, 0);
  if (checksum != record.texts_checksum) return Status(Code::checksum, "texts: checksum mismatch");
  return texts;
}

}  // namespace clbake::cache
