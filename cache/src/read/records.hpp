// Records and the blobs that they point to. Messages name the cause; the caller prefixes the record.
#pragma once

#include "read/layout.hpp"

#include <type_traits>
#include <vector>

namespace clbake::cache {

// A blob record whose checksum holds and whose fields obey FORMAT.md: its bytes lie inside the right section.
struct BlobRecord {
  std::uint32_t key0 = 0;
  std::uint32_t key1 = 0;
  std::uint16_t key2 = 0;
  std::uint32_t flags = 0;
  std::uint32_t reserved = 0;
  Blob blob;
};

struct ProofRecord {
  std::uint32_t flags = 0;
  Proof proof;  // without its texts
  std::uint32_t texts_bytes = 0;
  std::uint32_t texts_offset = 0;  // from the start of the bodies
  std::uint64_t texts_checksum = 0;
  std::uint64_t program_checksum = 0;
};

// The fields up to the record's checksum, in the order of the file, for LoadFields and StoreFields.
template <typename Fields, typename T>
void describe(Fields fields, T& r) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, BlobRecord>) {
    fields(r.key0, r.key1, r.key2, r.blob.method, r.blob.dictionary, r.blob.offset, r.blob.stored_bytes,
           r.blob.raw_bytes, r.blob.stored_checksum, r.blob.raw_checksum, r.flags, r.reserved);
  } else {
    fields(r.flags, r.proof.create_us, r.proof.build_us, r.proof.kernel_us, r.proof.first_us, r.proof.steady_us,
           r.proof.max_error, r.proof.tolerance, r.texts_bytes, r.texts_offset, r.texts_checksum, r.program_checksum);
  }
}

// "index record 17"
std::string record_name(format::SectionType type, std::uint32_t i);

// True when the record's own checksum holds. REQUIRES here and below: i is less than the section's count.
bool intact(const BundleView& view, format::SectionType type, std::uint32_t i);

Result<BlobRecord> read_blob_record(const BundleView& view, format::SectionType type, std::uint32_t i);
Result<ProofRecord> read_proof_record(const BundleView& view, std::uint32_t i);

// The rules of FORMAT.md for the blob of a record of this type.
Status check_blob(const BundleView& view, format::SectionType type, const Blob& blob);

// The verified stored bytes of record i of this type, in place or, under a guard, in `copy`.
Result<ByteView> stored_bytes(const BundleView& view, format::SectionType type, std::uint32_t i, const Blob& blob,
                              Bytes& copy);

// The raw bytes: the stored bytes are verified, decompressed, and verified again; before that, those of the dictionary.
Result<Bytes> unpack(const BundleView& view, format::SectionType type, std::uint32_t i, const Blob& blob);

// The verified body of the proof's texts, in place or in `copy`; empty if it has none.
Result<ByteView> read_texts(const BundleView& view, std::uint32_t i, const ProofRecord& record, Bytes& copy);

// ---- Search in the sorted records of a section, in place; allocates nothing ----

// A search does not verify the records that it probes, only those on either side of the answer: FORMAT.md, "Searching",
// says why that is enough. Of these two, the record that was found is left to the caller, whose read verifies it.

// The first record whose key is not less than the wanted one.
struct LowerBound {
  std::uint32_t i = 0;  // the section's count if all keys are less
  bool equal = false;   // record i has the wanted key
};

// Each fails with checksum when a record beside the answer is damaged.
Result<LowerBound> find_by_hash(const BundleView& view, std::uint64_t raw_checksum);  // in the targets
Result<LowerBound> find_by_keys(const BundleView& view, format::SectionType type, std::uint32_t key0,
                                std::uint32_t key1);

// ---- Digests and signatures: where they lie and whether they are well formed; nothing here computes or checks one.

// In the order of the file. Fails with checksum, malformed or unsupported_version.
Result<std::vector<Signature>> read_signatures(const BundleView& view);

// Digests and signatures come together. What is signed lies in one piece before the first blob, and the signatures end
// the file, so that signing moves nothing. Checked by who asks for trust: opening a bundle does not pay for it. Fails
// with malformed; ok without either.
Status check_digest_layout(const Layout& layout, std::uint64_t file_bytes);

// The end of what is signed, from the start of the bundle. REQUIRES: has_digests().
std::uint64_t index_end(const BundleView& view);

}  // namespace clbake::cache
