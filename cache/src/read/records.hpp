// Records and the blobs that they point to. Messages name the cause; the caller puts the place in front.
#pragma once

#include "read/layout.hpp"

namespace clbake::cache {

// A blob record whose checksum holds and whose fields obey FORMAT.md: its bytes lie inside the right section.
struct BlobRecord {
  std::uint32_t key0 = 0;
  std::uint32_t key1 = 0;
  std::uint16_t key2 = 0;
  std::uint16_t method = 0;
  std::uint64_t offset = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint64_t stored_checksum = 0;
  std::uint64_t raw_checksum = 0;
  bool newer_driver = false;
};

struct ProofRecord {
  std::uint32_t flags = 0;
  float create_us = 0, build_us = 0, kernel_us = 0, first_us = 0, steady_us = 0, max_error = 0, tolerance = 0;
  std::uint32_t texts_bytes = 0;
  std::uint32_t texts_offset = 0;  // from the start of the bodies
  std::uint64_t texts_checksum = 0;
  std::uint64_t program_checksum = 0;
};

// "index record 17"
std::string record_name(format::SectionType type, std::uint32_t i);

// The seed that ties a record to its place.
constexpr std::uint64_t record_seed(format::SectionType type, std::uint32_t i) {
  return static_cast<std::uint64_t>(type) << 32 | i;
}

// Whether the record's own checksum holds. REQUIRES: i below the section's count; so for all that follow.
bool intact(const View& view, format::SectionType type, std::uint32_t i);

Result<BlobRecord> read_blob_record(const View& view, format::SectionType type, std::uint32_t i);
Result<ProofRecord> read_proof_record(const View& view, std::uint32_t i);

// The rules of FORMAT.md for a blob record of this type, its checksum aside.
Status check_blob_record(const View& view, format::SectionType type, const BlobRecord& record);

// The verified stored bytes, in place.
Result<ByteView> stored_blob(const View& view, const BlobRecord& record);

// The raw bytes: stored bytes verified, decompressed, the result verified.
Result<Bytes> unpack_blob(const View& view, const BlobRecord& record);

// The verified body of the proof's texts, in place; empty if it has none.
Result<ByteView> read_texts(const View& view, const ProofRecord& record);

// Where a search ended: the first record whose key is not less than the wanted one.
struct Place {
  std::uint32_t i = 0;  // may be the section's count
  bool equal = false;   // record i has the wanted key
};

// Search in sorted records; allocates nothing. The records on the way are not verified, those that FORMAT.md names
// under "Searching" are: with one exception, record `i` when `equal`, which the caller reads and thereby verifies. Then
// the answer is certain. Fails with checksum.
Result<Place> find_by_hash(const View& view, std::uint64_t raw_checksum);  // in the targets
Result<Place> find_by_keys(const View& view, format::SectionType type, std::uint32_t key0, std::uint32_t key1);

}  // namespace clbake::cache
