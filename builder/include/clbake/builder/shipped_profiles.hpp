// The profiles that come with clbake, by class of device.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/builder/tuning_file.hpp>

namespace clbake::builder::profile {

// "cpu-avx512", "cpu-avx2", "nvidia", "amd", "intel-gpu" or "other".
std::string device_class(const Device& device);

// Those of builder/profiles/; `file` is the class. Not every class was tuned.
const std::vector<NamedTuning>& shipped_profiles();

}  // namespace clbake::builder::profile
