// Header and section table: all that opening a bundle reads and checks.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/status.hpp>

#include "format.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace clbake::cache {

struct Section {
  std::uint32_t type = 0;  // a SectionType, or a type that this version does not know
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;  // multiple of 64
  std::uint64_t bytes = 0;
  std::uint32_t count = 0;     // records
  std::uint64_t checksum = 0;  // of all its bytes; not yet verified
};

struct Layout {
  Version version;
  std::uint64_t table_offset = 0;
  std::vector<Section> sections;                           // in the order of the file, with those of unknown types
  std::array<Section, format::kSectionTypes + 1> by_type;  // by SectionType; [0] is unused
};

// The dictionary that was needed last, verified and decompressed: the next program often needs the same one. Larger
// ones than kMostBytes are not kept. Any number of threads at once.
class LastDictionary {
 public:
  static constexpr std::size_t kMostBytes = 256 << 10;

  // Null if it is another entry's.
  std::shared_ptr<const Bytes> find(std::uint32_t entry) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entry == entry_ ? raw_ : nullptr;
  }

  void keep(std::uint32_t entry, std::shared_ptr<const Bytes> raw) {
    if (raw->size() > kMostBytes) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    entry_ = entry;
    raw_.swap(raw);  // the former one goes without the lock
  }

 private:
  mutable std::mutex mutex_;
  std::uint32_t entry_ = 0;
  std::shared_ptr<const Bytes> raw_;
};

// The bytes of a bundle whose header and section table are verified. Does not own them.
struct BundleView {
  ByteView bytes;
  // Records and digests are read here: the same bytes or, under a guard, a private copy of the first of them, which
  // nobody can change any more.
  ByteView index;
  std::shared_ptr<const Guard> guard;  // null: bytes of blobs are compared with their checksums only
  Layout layout;
  std::shared_ptr<LastDictionary> last_dictionary = std::make_shared<LastDictionary>();  // never null

  const Section& section(format::SectionType type) const { return layout.by_type[static_cast<std::size_t>(type)]; }

  // REQUIRES: a section of records, i below its count.
  const std::uint8_t* record(format::SectionType type, std::uint32_t i) const {
    return index.data + section(type).offset + std::uint64_t{i} * format::kRecordBytes;
  }

  bool has_digests() const { return section(format::SectionType::digests).type != 0; }

  // Digest of a record's blob or texts. REQUIRES: has_digests(), check_digest_layout, a section of records, i below its
  // count.
  const std::uint8_t* digest(format::SectionType type, std::uint32_t i) const {
    std::uint64_t number = i;
    for (std::uint32_t t = 1; t < static_cast<std::uint32_t>(type); ++t) number += layout.by_type[t].count;
    return index.data + section(format::SectionType::digests).offset + number * format::kDigestBytes;
  }

  ByteView slice(std::uint64_t offset, std::uint64_t size) const {
    return {bytes.data + offset, static_cast<std::size_t>(size)};
  }
};

// The parts that the copies of an opened Bundle share.
struct Bundle::State {
  std::shared_ptr<const void> owner;    // of the bytes: a mapping, a copy or, under a guard, another State
  std::shared_ptr<const void> voucher;  // of_digest's
  Bytes index;                          // under a guard
  BundleView view;

  static Result<Bundle> open(std::shared_ptr<const void> owner, ByteView bytes);
};

// The plural name of a section: "targets".
std::string_view name(format::SectionType type);

// Verifies header and section table. Time and memory depend on the number of sections only.
// Fails with not_a_bundle, truncated, checksum, unsupported_version or malformed, as FORMAT.md says.
Result<BundleView> read_layout(ByteView bytes);

// The same for the first bytes of a bundle of `file_bytes`, among which the section table is.
Status read_layout_in(ByteView index, std::uint64_t file_bytes, Layout& layout);

}  // namespace clbake::cache
