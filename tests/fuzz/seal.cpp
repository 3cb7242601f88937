#include "seal.hpp"

#include <clbake/cache/xxh64.hpp>

#include "coding.hpp"
#include "format.hpp"

#include <zstd.h>
#include <memory>

namespace clbake::fuzz {
namespace {

using namespace cache;
using format::SectionType;

constexpr std::uint64_t kMaxUnpacked = 1 << 16;  // larger blobs keep their raw checksum: unpacking them takes too long

class Sealer {
 public:
  Sealer(Bytes& bytes, DigestFunction digest) : bytes_(bytes), digest_(digest) {}

  void run() {
    if (bytes_.size() < format::header::kBytes) return;
    store64(bytes_.data() + format::header::kFileBytesAt, bytes_.size());
    const std::uint64_t table = load64(bytes_.data() + format::header::kTableOffsetAt);
    const std::uint64_t count = load32(bytes_.data() + format::header::kSectionCountAt);
    const std::uint64_t table_bytes = count * format::section::kBytes;
    const bool readable = count <= format::kMaxSections && inside(table, table_bytes);
    if (readable) seal_sections(table, table_bytes);
    if (readable) store64(bytes_.data() + format::header::kTableChecksumAt, checksum(table, table_bytes, 0));
    store64(bytes_.data() + format::header::kChecksumAt, checksum(0, format::header::kChecksumAt, 0));
  }

 private:
  bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  std::uint64_t checksum(std::uint64_t offset, std::uint64_t size, std::uint64_t seed) const {
    return xxh64(bytes_.data() + offset, static_cast<std::size_t>(size), seed);
  }

  struct Records {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
  };

  void seal_sections(std::uint64_t table, std::uint64_t table_bytes) {
    for (std::uint64_t at = table; at < table + table_bytes; at += format::section::kBytes) {
      const std::uint32_t type = load32(bytes_.data() + at + format::section::kTypeAt);
      const std::uint64_t offset = load64(bytes_.data() + at + format::section::kOffsetAt);
      const std::uint64_t size = load64(bytes_.data() + at + format::section::kBytesAt);
      if (type == 0 || type > format::kSectionTypes || !inside(offset, size)) continue;
      const std::uint32_t record_bytes = format::known(static_cast<SectionType>(type)).record_bytes;
      records_[type] = {offset, record_bytes == 0 ? 0 : size / record_bytes};
    }
    for (const SectionType type : {SectionType::targets, SectionType::sources, SectionType::variants,
                                   SectionType::profiles, SectionType::index}) {
      for_each_record(type, [&](std::uint8_t* record, std::uint64_t /*i*/) { seal_blob(record); });
    }
    for_each_record(SectionType::proofs, [&](std::uint8_t* record, std::uint64_t i) { seal_proof(record, i); });
    seal_signatures();
    if (digest_ != nullptr) seal_digests();
    for (std::uint64_t at = table; at < table + table_bytes; at += format::section::kBytes) {
      std::uint8_t* p = bytes_.data() + at;
      const std::uint64_t offset = load64(p + format::section::kOffsetAt);
      const std::uint64_t size = load64(p + format::section::kBytesAt);
      if (!inside(offset, size)) continue;
      store64(p + format::section::kChecksumAt, checksum(offset, size, load32(p + format::section::kTypeAt)));
    }
  }

  template <typename SealOne>
  void for_each_record(SectionType type, SealOne seal_one) {
    const Records records = records_[static_cast<std::size_t>(type)];
    for (std::uint64_t i = 0; i < records.count; ++i) {
      std::uint8_t* record = bytes_.data() + records.offset + i * format::kRecordBytes;
      seal_one(record, i);
      const std::uint64_t seed = format::record_seed(type, static_cast<std::uint32_t>(i));
      store64(record + format::kRecordChecksumAt, xxh64(record, format::kRecordChecksumAt, seed));
    }
  }

  void seal_signatures() {
    namespace at = format::signature;
    const Records records = records_[static_cast<std::size_t>(SectionType::signatures)];
    for (std::uint64_t i = 0; i < records.count; ++i) {
      std::uint8_t* p = bytes_.data() + records.offset + i * at::kBytes;
      const std::uint64_t seed = format::record_seed(SectionType::signatures, static_cast<std::uint32_t>(i));
      store64(p + at::kChecksumAt, xxh64(p, at::kChecksumAt, seed));
    }
  }

  // Digests of the records' blobs, in their order.
  void seal_digests() {
    const std::uint64_t first = records_[static_cast<std::size_t>(SectionType::digests)].offset;
    std::uint64_t number = 0;
    for (std::uint32_t type = 1; type <= format::kLastDigested; ++type) {
      for (std::uint64_t i = 0; i < records_[type].count; ++i, ++number) {
        const std::uint8_t* record = bytes_.data() + records_[type].offset + i * format::kRecordBytes;
        const ByteView bytes =
            type == static_cast<std::uint32_t>(SectionType::proofs) ? texts_of(record) : blob_of(record);
        const std::uint64_t at = first + number * format::kDigestBytes;
        if (first != 0 && bytes.data != nullptr && inside(at, format::kDigestBytes)) digest_(bytes, &bytes_[at]);
      }
    }
  }

  // No bytes where they lie outside.
  ByteView slice(std::uint64_t offset, std::uint64_t size) const {
    return inside(offset, size) ? ByteView{bytes_.data() + offset, static_cast<std::size_t>(size)} : ByteView{};
  }
  ByteView blob_of(const std::uint8_t* record) const {
    return slice(load64(record + format::blob::kOffsetAt), load32(record + format::blob::kStoredBytesAt));
  }
  ByteView texts_of(const std::uint8_t* record) const {
    return slice(
        records_[static_cast<std::size_t>(SectionType::bodies)].offset + load32(record + format::proof::kTextsOffsetAt),
        load32(record + format::proof::kTextsBytesAt));
  }

  void seal_blob(std::uint8_t* record) const {
    namespace at = format::blob;
    const std::uint64_t offset = load64(record + at::kOffsetAt);
    const std::uint32_t stored = load32(record + at::kStoredBytesAt);
    if (!inside(offset, stored)) return;
    store64(record + at::kStoredChecksumAt, checksum(offset, stored, 0));
    if (load16(record + at::kMethodAt) == 0) store64(record + at::kRawChecksumAt, checksum(offset, stored, 0));
    if (load16(record + at::kMethodAt) == 1) seal_raw(record, offset, stored);
  }

  // The raw checksum of a zstd blob, and the size that its frame declares.
  void seal_raw(std::uint8_t* record, std::uint64_t offset, std::uint32_t stored) const {
    const std::uint32_t dictionary = load32(record + format::blob::kDictionaryAt);
    const Bytes prefix = dictionary == 0 ? Bytes() : raw_of_entry(dictionary - 1);
    const Bytes raw = unpack(offset, stored, prefix);
    if (raw.empty()) return;
    store32(record + format::blob::kRawBytesAt, static_cast<std::uint32_t>(raw.size()));
    store64(record + format::blob::kRawChecksumAt, xxh64(raw.data(), raw.size(), 0));
  }

  // No bytes if the frame cannot be read, or is too large.
  Bytes unpack(std::uint64_t offset, std::uint32_t stored, const Bytes& prefix) const {
    const std::uint64_t declared = ZSTD_getFrameContentSize(bytes_.data() + offset, stored);
    if (declared > kMaxUnpacked) return {};
    Bytes raw(static_cast<std::size_t>(declared));
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    ZSTD_DCtx_refPrefix(context.get(), prefix.data(), prefix.size());
    const std::size_t size = ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), bytes_.data() + offset, stored);
    return size == raw.size() ? raw : Bytes();
  }

  // The program of an entry that can be a dictionary; no bytes if there is none.
  Bytes raw_of_entry(std::uint32_t i) const {
    namespace at = format::blob;
    const Records index = records_[static_cast<std::size_t>(SectionType::index)];
    if (i >= index.count) return {};
    const std::uint8_t* record = bytes_.data() + index.offset + i * format::kRecordBytes;
    const std::uint64_t offset = load64(record + at::kOffsetAt);
    const std::uint32_t stored = load32(record + at::kStoredBytesAt);
    if (!inside(offset, stored) || stored > kMaxUnpacked) return {};
    if (load16(record + at::kMethodAt) == 1) return unpack(offset, stored, {});
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(offset),
            bytes_.begin() + static_cast<std::ptrdiff_t>(offset + stored)};
  }

  void seal_proof(std::uint8_t* record, std::uint64_t i) const {
    namespace at = format::proof;
    const ByteView texts = texts_of(record);
    if (texts.data != nullptr) store64(record + at::kTextsChecksumAt, xxh64(texts, 0));
    const Records index = records_[static_cast<std::size_t>(SectionType::index)];
    if (i >= index.count) return;
    const std::uint8_t* entry = bytes_.data() + index.offset + i * format::kRecordBytes;
    store64(record + at::kProgramChecksumAt, load64(entry + format::blob::kRawChecksumAt));
  }

  Bytes& bytes_;
  DigestFunction digest_;
  Records records_[format::kSectionTypes + 1];
};

}  // namespace

void seal(Bytes& bundle, DigestFunction digest) { Sealer(bundle, digest).run(); }

}  // namespace clbake::fuzz
