// Variants as users name them: by the variant's name or a preset's.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/kernels/presets.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

// The name of a preset's variant; any other text unchanged.
std::string variant_name(const std::string& given);

// Each variant once. Throws UsageError for a name that is neither a variant's nor a preset's.
std::vector<kernels::Params> variants_named(const std::vector<std::string>& names);

// "local-memory: the tiles ... take 65536 bytes of local memory, limit 32768"; empty when the device runs the variant.
std::string violation(const kernels::Params& params, const builder::Device& device);

}  // namespace clbake::tool
