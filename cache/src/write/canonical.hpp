// First half of writing: contents are checked, sorted, freed of duplicates, and their indices renumbered. Equal
// contents thereby give equal bytes, in whatever order a caller lists them.
#pragma once

#include <clbake/cache/writer.hpp>

namespace clbake::cache {

// The records of each section, in the order and with the indices of the file.
struct CanonicalContents {
  struct Body {
    std::uint32_t key0 = 0;  // of a profile its target; of a variant the first bytes of its content; else 0
    Bytes bytes;
    std::uint32_t key1 = 0;  // of a variant the next bytes of its content; else 0
  };
  struct EntryRecord {
    std::uint32_t target = 0;
    std::uint32_t variant = 0;
    const Entry* original = nullptr;  // in the contents; its own indices are the old ones
    Bytes texts;                      // body of the proof's texts
  };

  std::vector<Body> targets, sources, variants, profiles;
  std::vector<EntryRecord> entries;
};

// Fails with invalid_argument as `encode` does. Entries point into `contents`, which must outlive the result unchanged.
Result<CanonicalContents> canonicalize(const Contents& contents);

// The highest level of zstd that needs no more memory to decompress than the program itself has bytes.
constexpr int kLevel = 19;

// The stored form of an entry's program. Equal programs have equal ones.
struct PackedProgram {
  ByteView frame;                // a zstd frame; empty if the program is stored as it is
  std::uint32_t dictionary = 0;  // of the frame: 0, or 1 + the entry whose program it is
};

// The bytes of a bundle. `programs` has one item for each entry, in the same order; `digest` may be null. `slices`: the
// section of an index.
Result<Bytes> encode_canonical(const CanonicalContents& contents, const std::vector<PackedProgram>& programs,
                               DigestFunction digest, ByteView slices = {});

}  // namespace clbake::cache
