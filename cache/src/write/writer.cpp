// Second half of writing: canonical contents become bytes.
#include <clbake/cache/writer.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/os/files.hpp>

#include "coding.hpp"
#include "format.hpp"
#include "read/records.hpp"
#include "write/canonical.hpp"

#include <zstd.h>
#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace clbake::cache {
namespace {

using format::SectionType;

ByteView view_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + format::section::kAlignment - 1) / format::section::kAlignment * format::section::kAlignment;
}

// The section `bodies` or `programs`: blobs one after another, equal ones stored once.
class BlobArea {
 public:
  // `offset`: of the section, from the start of the bundle.
  explicit BlobArea(std::uint64_t offset) : offset_(offset) {}

  // Stores a blob, compressed if `compress` and if that makes it smaller: here, or before, as `frame`. `raw` must stay
  // unchanged while the area lives. Fails with out_of_memory. REQUIRES: 1 <= raw.size < 4 GiB.
  Result<Blob> add(ByteView raw, bool compress, ByteView frame = {}, std::uint32_t dictionary = 0) {
    const std::uint64_t raw_checksum = xxh64(raw, 0);
    const auto [begin, end] = known_.equal_range(raw_checksum);
    const auto known = std::find_if(begin, end, [&](const auto& item) {
      const Known& other = item.second;
      return other.compress == compress && other.raw.size == raw.size &&
             std::memcmp(other.raw.data, raw.data, raw.size) == 0;
    });
    if (known != end) return known->second.blob;
    Bytes made;
    if (compress && frame.size == 0) {
      made.resize(ZSTD_compressBound(raw.size));
      const std::size_t size = ZSTD_compress(made.data(), made.size(), raw.data, raw.size, kLevel);
      if (ZSTD_isError(size) != 0) return Status(Code::out_of_memory, std::string("zstd: ") + ZSTD_getErrorName(size));
      if (size < raw.size) frame = {made.data(), size};
    }
    const ByteView stored = frame.size > 0 ? frame : raw;
    const auto method = static_cast<std::uint16_t>(frame.size > 0 ? format::Method::zstd : format::Method::none);
    const Blob blob{offset_ + bytes_.size(),
                    static_cast<std::uint32_t>(stored.size),
                    static_cast<std::uint32_t>(raw.size),
                    xxh64(stored, 0),
                    raw_checksum,
                    method,
                    dictionary};
    bytes_.insert(bytes_.end(), stored.data, stored.data + stored.size);
    known_.emplace(raw_checksum, Known{raw, compress, blob});
    return blob;
  }

  std::uint64_t offset() const { return offset_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  struct Known {
    ByteView raw;
    bool compress;
    Blob blob;
  };

  std::uint64_t offset_;
  Bytes bytes_;
  std::unordered_multimap<std::uint64_t, Known> known_;  // by raw checksum
};

class Encoder {
 public:
  Encoder(const CanonicalContents& contents, Packing packing, const std::vector<PackedProgram>* packed,
          DigestFunction digest, ByteView slices = {})
      : contents_(contents),
        packed_(packed),
        digest_(digest),
        slices_(slices),
        compress_(packing == Packing::compressed),
        section_count_(format::kRequiredTypes + (digest != nullptr ? 2 : 0) + (slices.size > 0 ? 1 : 0)),
        areas_offset_(first_record_offset() + record_count() * format::kRecordBytes + aligned(slices.size) +
                      (digest != nullptr ? aligned(record_count() * format::kDigestBytes) : 0)) {}

  Result<Bytes> run() {
    // Compressed is what is large and read once. Targets are compared in place; a first use of a variant must not pay
    // for decompression.
    BlobArea programs(areas_offset_);
    Status status = add_programs(programs);
    // Measurements come last, so that the texts of proofs do not move baked bytes.
    BlobArea bodies(aligned(areas_offset_ + programs.bytes().size()));
    bodies_offset_ = bodies.offset();
    if (status) status = add_bodies(SectionType::targets, contents_.targets, false, bodies);
    if (status) status = add_bodies(SectionType::sources, contents_.sources, compress_, bodies);
    if (status) status = add_bodies(SectionType::variants, contents_.variants, false, bodies);
    if (status) status = add_bodies(SectionType::profiles, contents_.profiles, compress_, bodies);
    if (status) status = add_proofs(bodies);
    if (!status) return status;
    file_.resize(first_record_offset());
    for (const SectionType type : {SectionType::targets, SectionType::sources, SectionType::variants,
                                   SectionType::profiles, SectionType::index, SectionType::proofs}) {
      append_section(type, records(type));
    }
    if (slices_.size > 0) append_section(SectionType::slices, {slices_.data, slices_.data + slices_.size});
    if (digest_ != nullptr) {
      add_digests(programs, bodies);
      append_section(SectionType::digests, records(SectionType::digests));
    }
    append_section(SectionType::programs, programs.bytes());
    append_section(SectionType::bodies, bodies.bytes());
    if (digest_ != nullptr) append_section(SectionType::signatures, {});  // room in the table: signing moves nothing
    return finish();
  }

 private:
  std::uint64_t first_record_offset() const {
    return aligned(format::header::kBytes + section_count_ * format::section::kBytes);
  }
  std::uint64_t record_count() const {
    return contents_.targets.size() + contents_.sources.size() + contents_.variants.size() + contents_.profiles.size() +
           2 * contents_.entries.size();
  }

  template <typename Record>
  void append_record(SectionType type, const Record& record) {
    Bytes& section = records(type);
    const auto i = static_cast<std::uint32_t>(section.size() / format::kRecordBytes);
    section.resize(section.size() + format::kRecordBytes);
    std::uint8_t* p = section.data() + section.size() - format::kRecordBytes;
    describe(StoreFields{p}, record);
    store64(p + format::kRecordChecksumAt, xxh64(p, format::kRecordChecksumAt, format::record_seed(type, i)));
  }

  Status add_bodies(SectionType type, const std::vector<CanonicalContents::Body>& bodies, bool compress,
                    BlobArea& area) {
    for (const CanonicalContents::Body& body : bodies) {
      const Result<Blob> blob = area.add(view_of(body.bytes), compress);
      if (!blob) return blob.status();
      append_record(type, BlobRecord{body.key0, body.key1, 0, 0, 0, *blob});
    }
    return {};
  }

  Status add_programs(BlobArea& area) {
    for (std::size_t i = 0; i < contents_.entries.size(); ++i) {
      const CanonicalContents::EntryRecord& entry = contents_.entries[i];
      const ByteView raw = view_of(entry.original->program);
      const PackedProgram* packed = packed_ != nullptr ? &(*packed_)[i] : nullptr;
      const Result<Blob> blob = packed != nullptr
                                    ? area.add(raw, packed->frame.size > 0, packed->frame, packed->dictionary)
                                    : area.add(raw, compress_);
      if (!blob) return blob.status();
      const auto form = static_cast<std::uint16_t>(entry.original->form);
      const std::uint32_t flags = entry.original->newer_driver ? format::blob::kNewerDriver : 0;
      append_record(SectionType::index, BlobRecord{entry.target, entry.variant, form, flags, 0, *blob});
    }
    return {};
  }

  Status add_proofs(BlobArea& area) {
    namespace at = format::proof;
    for (std::size_t i = 0; i < contents_.entries.size(); ++i) {
      const Entry& entry = *contents_.entries[i].original;
      const ByteView texts = view_of(contents_.entries[i].texts);
      Blob blob;
      blob.offset = bodies_offset_;
      if (texts.size > 0) {
        const Result<Blob> stored = area.add(texts, false);
        if (!stored) return stored.status();
        blob = *stored;
      }
      const std::uint64_t offset = blob.offset - bodies_offset_;
      if (offset > UINT32_MAX) return {Code::invalid_argument, "the texts of the proofs lie more than 4 GiB apart"};
      const std::uint32_t flags = (entry.proof.proven ? at::kProven : 0) | (entry.proof.jit_free ? at::kJitFree : 0);
      append_record(SectionType::proofs,
                    ProofRecord{flags, entry.proof, blob.raw_bytes, static_cast<std::uint32_t>(offset), xxh64(texts, 0),
                                xxh64(view_of(entry.program), 0)});
    }
    return {};
  }

  // Adds digests of the stored bytes of each record, in the order of the sections and their records.
  void add_digests(const BlobArea& programs, const BlobArea& bodies) {
    Bytes& digests = records(SectionType::digests);
    const auto add = [&](const BlobArea& area, std::uint64_t offset, std::uint32_t bytes) {
      digests.resize(digests.size() + format::kDigestBytes);
      digest_({area.bytes().data() + (offset - area.offset()), bytes}, &digests[digests.size() - format::kDigestBytes]);
    };
    for (std::uint32_t type = 1; type <= format::kLastDigested; ++type) {
      const auto section = static_cast<SectionType>(type);
      const BlobArea& area = section == SectionType::index ? programs : bodies;
      const Bytes& all = records(section);
      for (const std::uint8_t* p = all.data(); p != all.data() + all.size(); p += format::kRecordBytes) {
        if (section == SectionType::proofs) {
          add(area, bodies_offset_ + load32(p + format::proof::kTextsOffsetAt),
              load32(p + format::proof::kTextsBytesAt));
        } else {
          add(area, load64(p + format::blob::kOffsetAt), load32(p + format::blob::kStoredBytesAt));
        }
      }
    }
  }

  // Pads the file, appends the section and describes it in the table.
  void append_section(SectionType type, const Bytes& content) {
    namespace at = format::section;
    const std::uint32_t record_bytes = format::known(type).record_bytes;
    file_.resize(aligned(file_.size()));
    table_.resize(table_.size() + at::kBytes);
    std::uint8_t* p = table_.data() + table_.size() - at::kBytes;
    store32(p + at::kTypeAt, static_cast<std::uint32_t>(type));
    const bool required = type <= SectionType::programs || type == SectionType::slices;
    store32(p + at::kFlagsAt, required ? at::kRequired : 0);
    store64(p + at::kOffsetAt, file_.size());
    store64(p + at::kBytesAt, content.size());
    store64(p + at::kCountAt, record_bytes == 0 ? 0 : content.size() / record_bytes);
    store32(p + at::kRecordBytesAt, record_bytes);
    store64(p + at::kChecksumAt, xxh64(view_of(content), static_cast<std::uint32_t>(type)));
    file_.insert(file_.end(), content.begin(), content.end());
  }

  // Fills in the header and the section table, for which run() left room.
  Bytes finish() {
    namespace at = format::header;
    std::copy(std::begin(format::kMagic), std::end(format::kMagic), file_.begin());
    std::copy(table_.begin(), table_.end(), file_.begin() + at::kBytes);
    std::uint8_t* p = file_.data();
    store16(p + at::kMajorAt, format::kMajor);
    store16(p + at::kMinorAt, format::kMinor);
    store32(p + at::kHeaderBytesAt, at::kBytes);
    store64(p + at::kFileBytesAt, file_.size());
    store64(p + at::kTableOffsetAt, at::kBytes);
    store32(p + at::kSectionCountAt, static_cast<std::uint32_t>(section_count_));
    store64(p + at::kTableChecksumAt, xxh64(view_of(table_), 0));
    store64(p + at::kChecksumAt, xxh64(p, at::kChecksumAt, 0));
    return std::move(file_);
  }

  Bytes& records(SectionType type) { return records_[static_cast<std::size_t>(type)]; }

  const CanonicalContents& contents_;
  const std::vector<PackedProgram>* packed_;  // by entry; null if the programs are compressed here
  DigestFunction digest_;                     // null: no digests and no room for signatures
  ByteView slices_;                           // of an index; else empty
  bool compress_;
  std::size_t section_count_;
  std::uint64_t areas_offset_;                // of the first section after the records and digests
  std::uint64_t bodies_offset_ = 0;           // known when the programs are
  Bytes records_[format::kSectionTypes + 1];  // by SectionType, those of records and digests only
  Bytes table_;
  Bytes file_;
};

}  // namespace

Result<Bytes> encode_canonical(const CanonicalContents& contents, const std::vector<PackedProgram>& programs,
                               DigestFunction digest, ByteView slices) {
  return Encoder(contents, Packing::compressed, &programs, digest, slices).run();
}

Result<Bytes> encode(const Contents& contents, Packing packing) {
  return exceptions_to_status([&]() -> Result<Bytes> {
    const Result<CanonicalContents> canonical = canonicalize(contents);
    if (!canonical) return canonical.status();
    return Encoder(*canonical, packing, nullptr, nullptr).run();
  });
}

Status write_file(const std::string& path, ByteView bytes) {
  return exceptions_to_status([&] {
    return os::write_file(path, {reinterpret_cast<const char*>(bytes.data), bytes.size});
  });
}

}  // namespace clbake::cache
