// Full verification: every rule of FORMAT.md on every byte of the bundle. Records come first and the checksums of whole
// sections last, so that a message names the damaged record where one is to blame.
#include <clbake/cache/slices.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "read/records.hpp"

#include <algorithm>
#include <tuple>

namespace clbake::cache {
namespace {

using format::SectionType;

// A range of bytes of the bundle.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Extent& other) const { return offset == other.offset && bytes == other.bytes; }
  bool operator<(const Extent& other) const { return std::tie(offset, bytes) < std::tie(other.offset, other.bytes); }
};

auto fields(const Blob& blob) {
  return std::tie(blob.offset, blob.stored_bytes, blob.raw_bytes, blob.method, blob.stored_checksum, blob.raw_checksum,
                  blob.dictionary);
}

// An index record; sorting by the blob's fields brings records that share a program together.
struct ProgramUse {
  BlobRecord record;
  std::uint32_t i = 0;
};

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.data, bytes.data + bytes.size, [](std::uint8_t byte) { return byte == 0; });
}

Status out_of_order(SectionType type, std::uint32_t i) {
  return {Code::malformed, joined({record_name(type, i), ": out of order"})};
}

class Verifier {
 public:
  Verifier(const Bundle& bundle, const BundleView& view) : bundle_(bundle), view_(view) {}

  Status run() {
    for (const auto step : {&Verifier::targets, &Verifier::sources, &Verifier::variants, &Verifier::profiles,
                            &Verifier::index, &Verifier::proofs, &Verifier::programs, &Verifier::slices,
                            &Verifier::signatures, &Verifier::areas, &Verifier::padding, &Verifier::sections}) {
      if (Status status = (this->*step)(); !status) return status;
    }
    return {};
  }

 private:
  std::uint32_t count(SectionType type) const { return view_.section(type).count; }

  // All records of a section, whose items `read` gives; by `key` each is less than the next one.
  template <typename Read, typename Key>
  Status in_order(SectionType type, Read read, Key key) {
    decltype(key(std::declval<BlobRecord>(), *read(0))) last{};
    for (std::uint32_t i = 0; i < count(type); ++i) {
      const Result<BlobRecord> record = read_blob_record(view_, type, i);
      if (!record) return record.status().within(record_name(type, i));
      bodies_.push_back({record->blob.offset, record->blob.stored_bytes});
      const auto item = read(i);
      if (!item) return item.status();
      auto next = key(*record, *item);
      if (i > 0 && next <= last) return out_of_order(type, i);
      last = std::move(next);
    }
    return {};
  }

  Status targets() {
    return in_order(
        SectionType::targets, [&](std::uint32_t i) { return bundle_.target(i); },
        [](const BlobRecord& r, const Target& t) { return std::make_pair(r.blob.raw_checksum, encode_target(t)); });
  }

  Status sources() {
    return in_order(
        SectionType::sources, [&](std::uint32_t i) { return bundle_.source(i); },
        [](const BlobRecord&, const Source& s) { return std::make_pair(s.name, s.text); });
  }

  Status variants() {
    return in_order(
        SectionType::variants, [&](std::uint32_t i) { return bundle_.variant(i); },
        [](const BlobRecord&, const Variant& v) { return v.name; });
  }

  Status profiles() {
    return in_order(
        SectionType::profiles, [&](std::uint32_t i) { return bundle_.profile(i); },
        [](const BlobRecord&, const Profile& p) { return p.target; });
  }

  Status index() {
    const auto key = [](const BlobRecord& r) { return std::tie(r.key0, r.key1, r.key2); };
    uses_.reserve(count(SectionType::index));
    for (std::uint32_t i = 0; i < count(SectionType::index); ++i) {
      const Result<BlobRecord> record = read_blob_record(view_, SectionType::index, i);
      if (!record) return record.status().within(record_name(SectionType::index, i));
      if (i > 0 && key(*record) <= key(uses_.back().record)) return out_of_order(SectionType::index, i);
      uses_.push_back({*record, i});
    }
    return {};
  }

  Status proofs() {
    for (std::uint32_t i = 0; i < count(SectionType::proofs); ++i) {
      if (const Result<EntryInfo> entry = bundle_.entry(i); !entry) return entry.status();
      const Result<ProofRecord> record = read_proof_record(view_, i);
      if (!record) return record.status().within(record_name(SectionType::proofs, i));
      const std::uint64_t offset = view_.section(SectionType::bodies).offset + record->texts_offset;
      if (record->texts_bytes > 0) bodies_.push_back({offset, record->texts_bytes});
    }
    return {};
  }

  Status programs() {
    std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) {
      return std::tuple_cat(fields(a.record.blob), std::tie(a.i)) <
             std::tuple_cat(fields(b.record.blob), std::tie(b.i));
    });
    for (std::size_t u = 0; u < uses_.size(); ++u) {
      if (u > 0 && fields(uses_[u].record.blob) == fields(uses_[u - 1].record.blob)) continue;
      const Result<Bytes> program = unpack(view_, SectionType::index, uses_[u].i, uses_[u].record.blob);
      if (!program) return program.status().within(record_name(SectionType::index, uses_[u].i));
    }
    return {};
  }

  Status slices() { return bundle_.is_index() ? bundle_.slices().status() : Status(); }

  Status signatures() { return read_signatures(view_).status(); }

  // Fails unless the extents lie side by side in the area and all bytes between them are zero. Sorts them.
  Status check_area(SectionType area, std::vector<Extent>& extents) const {
    std::sort(extents.begin(), extents.end());
    extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
    const Section& section = view_.section(area);
    std::uint64_t at = section.offset;
    const auto zero_until = [&](std::uint64_t end) { return all_zero(view_.slice(at, end - at)); };
    for (const Extent& extent : extents) {
      if (extent.offset < at) {
        return {Code::malformed, joined({name(area), ": two blobs overlap at byte ", extent.offset})};
      }
      if (!zero_until(extent.offset)) break;
      at = extent.offset + extent.bytes;
    }
    if (zero_until(section.offset + section.bytes)) return {};
    return {Code::malformed, joined({name(area), ": bytes that belong to no blob after byte ", at})};
  }

  Status areas() {
    std::vector<Extent> programs;
    programs.reserve(uses_.size());
    for (const ProgramUse& use : uses_) programs.push_back({use.record.blob.offset, use.record.blob.stored_bytes});
    if (Status status = check_area(SectionType::bodies, bodies_); !status) return status;
    return check_area(SectionType::programs, programs);
  }

  // The bytes between header, table and sections.
  Status padding() {
    std::vector<Extent> parts = {{0, format::header::kBytes},
                                 {view_.layout.table_offset, view_.layout.sections.size() * format::section::kBytes}};
    for (const Section& section : view_.layout.sections) parts.push_back({section.offset, section.bytes});
    parts.push_back({view_.bytes.size, 0});
    std::sort(parts.begin(), parts.end());
    std::uint64_t at = 0;
    for (const Extent& part : parts) {
      if (part.offset > at && !all_zero(view_.slice(at, part.offset - at))) {
        return {Code::malformed, joined({"padding after byte ", at, " is not zero"})};
      }
      at = std::max(at, part.offset + part.bytes);
    }
    return {};
  }

  Status sections() {
    for (const Section& section : view_.layout.sections) {
      if (xxh64(view_.slice(section.offset, section.bytes), section.type) != section.checksum) {
        return {Code::checksum, joined({"section of type ", section.type, ": checksum mismatch"})};
      }
    }
    return {};
  }

  const Bundle& bundle_;
  const BundleView& view_;
  std::vector<Extent> bodies_;
  std::vector<ProgramUse> uses_;
};

}  // namespace

Status Bundle::verify() const {
  return exceptions_to_status([&]() -> Status { return Verifier(*this, state_->view).run(); });
}

}  // namespace clbake::cache
