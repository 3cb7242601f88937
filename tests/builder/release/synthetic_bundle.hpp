// Bundles that nobody baked, for tests of what only reads bundles: random, but equal for equal settings.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clbake::tests {

struct SyntheticSettings {
  std::size_t targets = 3;
  std::size_t kinds = 4;             // of problems, from 1 to 12
  std::size_t variants_of_kind = 5;  // each with an entry for every target
  std::size_t program_bytes = 64;
  std::uint32_t seed = 1;
};

// Targets of several devices and drivers, some of an offline compiler, each with a profile of exceptions, cost models
// and defaults, and native entries, for NVIDIA portable ones as well. Some are not proven or not JIT-free, some
// variants of a profile have no entry.
cache::Contents synthetic_bundle(const SyntheticSettings& settings);

// Problems of the bundle's kinds, with weights; each once.
std::vector<builder::Shape> synthetic_shapes(const SyntheticSettings& settings, std::size_t count);

}  // namespace clbake::tests
