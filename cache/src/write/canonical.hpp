// First half of writing: contents are checked, sorted, freed of duplicates, and their indices renumbered. Equal
// contents thereby give equal bytes, in whatever order a caller lists them.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// The records of each section, in the order and with the indices of the file.
struct CanonicalContents {
  struct ProfileBody {
    std::uint32_t target = 0;
    Bytes body;
  };
  struct EntryRecord {
    std::uint32_t target = 0;
    std::uint32_t variant = 0;
    const Entry* original = nullptr;  // in the contents; its own indices are the old ones
    Bytes texts;                      // body of the proof's texts
  };

  std::vector<Bytes> targets;   // bodies
  std::vector<Bytes> sources;   // bodies
  std::vector<Bytes> variants;  // bodies
  std::vector<ProfileBody> profiles;
  std::vector<EntryRecord> entries;
};

// Fails with invalid_argument as `encode` does. Entries point into `contents`, which must outlive the result unchanged.
Result<CanonicalContents> canonicalize(const Contents& contents);

}  // namespace clbake::cache
