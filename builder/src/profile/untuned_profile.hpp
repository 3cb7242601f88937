// Which variant serves which problem where nothing was tuned.
#pragma once

#include <clbake/builder/devices.hpp>

#include <vector>

namespace clbake::builder {

// A profile of contents.targets[target] with nothing but defaults, from the default variants that have an entry there,
// or of a kind that has none of them from all: small problems of GPUs go to the family direct, others to the family
// made for the device type, with small or large tiles; a family that was not baked is replaced by the next best.
cache::Profile untuned_profile(const cache::Contents& contents, std::uint32_t target, kernels::DeviceType type);

// The same rules for any variants, by their index.
std::vector<cache::Rule> untuned_rules(const cache::Contents& contents, const std::vector<std::uint32_t>& variants,
                                       kernels::DeviceType type);

}  // namespace clbake::builder
