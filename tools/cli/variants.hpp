// Variants as users name them: by a variant's full name, or by that of a preset.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/kernels/presets.hpp>

#include <string>
#include <vector>

namespace clbake::tool {

// The variant's name for a preset's; any other text as it is.
std::string variant_name(const std::string& given);

// Throws UsageError for a name that is neither a variant's nor a preset's. One for each: twins count once.
std::vector<kernels::Params> variants_named(const std::vector<std::string>& names);

// Throws UsageError, listing those that are known, for a name that is no preset's; all of them for no names.
std::vector<kernels::Preset> presets_named(const std::vector<std::string>& names);

// "local-memory: the tiles ... take 65536 bytes of local memory, limit 32768"; empty when the device runs the variant.
std::string violation(const kernels::Params& params, const builder::Device& device);

}  // namespace clbake::tool
