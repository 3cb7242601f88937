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
  // The most bytes of the result; 0: any number. Needs shapes. Variants whose loss costs least expected time, for the
  // bytes that they take, are left out until the rest fits, as long as every problem still has a program.
  std::uint64_t max_bytes = 0;
};

struct PruneCounts {
  std::size_t targets = 0;
  std::size_t variants = 0;
  std::size_t entries = 0;
  std::uint64_t bytes = 0;  // of the bundle
};

// The cost of max_bytes.
struct PruneLoss {
  std::vector<std::string> variants;  // left out: "VARIANT on TARGET"
  std::size_t forms = 0;              // portable entries left out beside native ones that serve
  double mean = 0;                    // of expected time after over before, minus 1; by the problems' weights
  double worst = 0;                   // the largest of them ...
  std::string worst_problem;          // ... and where: "single nn 64x64x64 on TARGET"; empty when nothing was lost
};

struct PrunedBundle {
  cache::Bytes bytes;
  PruneCounts before, after;
  std::vector<std::string> removed_targets;  // target_name()
  std::size_t deciding = 0;                  // variants that stay only because choices would change without them
  std::size_t unserved = 0;  // pairs of a problem and a target for which the bundle has no program, before and after
  PruneLoss loss;
};

// On every kept target each of the shapes is served as before, unless max_bytes says otherwise: by the same variant and
// program, for devices with as many compute units as the profile's. A variant stays with all of its forms.
// Fails with what is wrong with the bundle, with invalid_argument when no program is left, or when max_bytes is less
// than what serving the shapes takes; the message names the least size that was reached.
Result<PrunedBundle> prune(const Bundle& bundle, const PruneOptions& options);

}  // namespace clbake::builder::release
