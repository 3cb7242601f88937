// Forged bundles: fields are changed and all checksums recomputed, to reach the checks behind the checksums. REQUIRES
// throughout: the original was written by `encode`.
#pragma once

#include <clbake/cache/xxh64.hpp>

#include "coding.hpp"
#include "format.hpp"
#include "read/layout.hpp"
#include "samples.hpp"

namespace clbake::cache::test {

class Forge {
 public:
  explicit Forge(Bytes original = small_bundle()) : bytes(std::move(original)) {}

  std::uint8_t* header() { return bytes.data(); }

  // The record in the section table.
  std::uint8_t* section(format::SectionType type) {
    std::uint8_t* p = bytes.data() + format::header::kBytes;
    while (load32(p + format::section::kTypeAt) != static_cast<std::uint32_t>(type)) p += format::section::kBytes;
    return p;
  }

  std::size_t section_offset(format::SectionType type) {
    return static_cast<std::size_t>(load64(section(type) + format::section::kOffsetAt));
  }

  std::uint8_t* record(format::SectionType type, std::size_t i) {
    return bytes.data() + section_offset(type) + i * format::kRecordBytes;
  }

  // The stored bytes of a blob record.
  std::uint8_t* blob(format::SectionType type, std::size_t i) {
    return bytes.data() + load64(record(type, i) + format::blob::kOffsetAt);
  }

  void seal_record(format::SectionType type, std::size_t i) {
    std::uint8_t* p = record(type, i);
    const std::uint64_t seed = format::record_seed(type, static_cast<std::uint32_t>(i));
    store64(p + format::kRecordChecksumAt, xxh64(p, format::kRecordChecksumAt, seed));
  }

  // Recomputes the checksums of an uncompressed blob and of its record.
  void seal_blob(format::SectionType type, std::size_t i) {
    std::uint8_t* p = record(type, i);
    const std::uint64_t checksum = xxh64(blob(type, i), load32(p + format::blob::kStoredBytesAt), 0);
    store64(p + format::blob::kStoredChecksumAt, checksum);
    store64(p + format::blob::kRawChecksumAt, checksum);
    seal_record(type, i);
  }

  void seal_sections() {
    for (std::uint32_t i = 0; i < load32(header() + format::header::kSectionCountAt); ++i) {
      std::uint8_t* p = bytes.data() + format::header::kBytes + i * format::section::kBytes;
      const std::uint32_t type = load32(p + format::section::kTypeAt);
      const std::uint64_t offset = load64(p + format::section::kOffsetAt);
      const std::uint64_t size = load64(p + format::section::kBytesAt);
      if (offset > bytes.size() || size > bytes.size() - offset) continue;
      store64(p + format::section::kChecksumAt, xxh64(bytes.data() + offset, size, type));
    }
  }

  void seal_header() {
    namespace at = format::header;
    const std::size_t table = load32(header() + at::kSectionCountAt) * format::section::kBytes;
    const std::uint64_t offset = load64(header() + at::kTableOffsetAt);
    if (offset <= bytes.size() && table <= bytes.size() - offset) {
      store64(header() + at::kTableChecksumAt, xxh64(bytes.data() + offset, table, 0));
    }
    store64(header() + at::kChecksumAt, xxh64(header(), at::kChecksumAt, 0));
  }

  Forge& seal() {
    seal_sections();
    seal_header();
    return *this;
  }

  // Changes a field of a record and recomputes all checksums.
  Forge& set32(format::SectionType type, std::size_t i, std::size_t at, std::uint32_t value) {
    store32(record(type, i) + at, value);
    seal_record(type, i);
    return seal();
  }

  Forge& set64(format::SectionType type, std::size_t i, std::size_t at, std::uint64_t value) {
    store64(record(type, i) + at, value);
    seal_record(type, i);
    return seal();
  }

  // Changes a field of an uncompressed body and recomputes all checksums.
  Forge& set_body32(format::SectionType type, std::size_t i, std::size_t at, std::uint32_t value) {
    store32(blob(type, i) + at, value);
    seal_blob(type, i);
    return seal();
  }

  // Moves the section table to the end and adds a section of another type with this content to it.
  Forge& add_section(std::uint32_t type, std::uint32_t flags, const Bytes& content);

  std::string open() const { return outcome(open_bytes(bytes)); }
  std::string verify() const {
    const Result<Bundle> bundle = open_bytes(bytes);
    return bundle ? outcome(bundle->verify()) : outcome(bundle);
  }
  std::string decode() const {
    const Result<Bundle> bundle = open_bytes(bytes);
    return bundle ? outcome(bundle->decode()) : outcome(bundle);
  }

  Bytes bytes;
};

inline Forge& Forge::add_section(std::uint32_t type, std::uint32_t flags, const Bytes& content) {
  namespace at = format::section;
  seal_sections();
  const unsigned char* const first = bytes.data() + format::header::kBytes;
  Bytes table(first, first + load32(header() + format::header::kSectionCountAt) * at::kBytes);
  std::fill_n(bytes.begin() + format::header::kBytes, table.size(), std::uint8_t{0});
  bytes.resize((bytes.size() + at::kAlignment - 1) / at::kAlignment * at::kAlignment);
  table.resize(table.size() + at::kBytes);
  std::uint8_t* p = table.data() + table.size() - at::kBytes;
  store32(p + at::kTypeAt, type);
  store32(p + at::kFlagsAt, flags);
  store64(p + at::kOffsetAt, bytes.size());
  store64(p + at::kBytesAt, content.size());
  store64(p + at::kChecksumAt, xxh64(content.data(), content.size(), type));
  bytes.insert(bytes.end(), content.begin(), content.end());
  const std::size_t table_offset = bytes.size();
  bytes.insert(bytes.end(), table.begin(), table.end());
  store64(header() + format::header::kFileBytesAt, bytes.size());
  store64(header() + format::header::kTableOffsetAt, table_offset);
  store32(header() + format::header::kSectionCountAt, static_cast<std::uint32_t>(table.size() / at::kBytes));
  seal_header();
  return *this;
}

}  // namespace clbake::cache::test
