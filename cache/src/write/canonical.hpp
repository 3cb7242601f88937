// First half of writing: contents checked, sorted, without repetitions, and renumbered.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// What goes into the sections, in the order of the file. Indices are those of the file.
struct CanonicalContents {
  struct ProfileBody {
    std::uint32_t target = 0;
    Bytes body;
  };
  struct EntryRecord {
    std::uint32_t target = 0;
    std::uint32_t variant = 0;
    const Entry* original = nullptr;  // points into the contents; its own indices are the old ones
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
