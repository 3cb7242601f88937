// A bundle without what some problems on some targets do not need.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::builder::release {

struct PruneOptions {
  std::vector<std::uint32_t> targets;  // that stay, by index
  std::vector<GemmKind> kinds;         // that stay; with shapes only the source of their default variants
  std::vector<Shape> shapes;           // what is served as before; none: every problem of the kinds
};

struct PruneCounts {
  std::size_t targets = 0;
  std::size_t variants = 0;
  std::size_t entries = 0;
  std::uint64_t bytes = 0;  // of the bundle
};

struct PrunedBundle {
  cache::Bytes bytes;
  PruneCounts before, after;
  std::vector<std::string> removed_targets;  // target_name()
  std::size_t deciding = 0;                  // variants that stay only because choices would change without them
};

// On every kept target each of the shapes is served as before: by the same variant and program, for devices with as
// many compute units as the profile's. A variant stays with all of its forms. Fails with what is wrong with the bundle,
// or with invalid_argument when no program is left.
Result<PrunedBundle> prune(const Bundle& bundle, const PruneOptions& options);

// Removes profiles that say nothing, then the targets without entries and profile, the variants that no entry and no
// profile names, but for programs, which applications ask for by name, and the sources that no variant names. The rest
// keeps its order.
void keep_used(cache::Contents& contents);

}  // namespace clbake::builder::release
