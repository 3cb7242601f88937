// Bundles whose programs resemble each other as those of several drivers do; synthetic_bundle has profiles instead.
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::tool {

// One entry for each target and variant. The targets are drivers number `first_target` and following of one device. The
// programs look like machine code: zstd makes one a third of its size; those of one variant for two drivers differ in
// one instruction of 20.
cache::Contents synthetic_drivers(std::uint32_t targets, std::uint32_t variants, std::size_t program_bytes,
                                  std::uint32_t first_target = 0);

}  // namespace clbake::tool
