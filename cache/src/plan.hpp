// First half of writing: contents checked, sorted, without repetitions, and renumbered.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// What goes into the sections, in the order of the file. Indices are those of the file.
struct Plan {
  struct ProfileBody {
    std::uint32_t target = 0;
    Bytes body;
  };
  struct PlannedEntry {
    std::uint32_t target = 0;
    std::uint32_t variant = 0;
    const Entry* entry = nullptr;  // points into the contents; its own indices are the old ones
    Bytes texts;                   // body of the proof's texts
  };

  std::vector<Bytes> targets;   // bodies
  std::vector<Bytes> sources;   // bodies
  std::vector<Bytes> variants;  // bodies
  std::vector<ProfileBody> profiles;
  std::vector<PlannedEntry> entries;
};

// Fails with invalid_argument as `encode` does. The plan is valid as long as the contents live and do not change.
Result<Plan> make_plan(const Contents& contents);

}  // namespace clbake::cache
