// A guess at a variant's speed from its parameters alone, before anything is timed. It only has to be better than
// chance: of several candidates the one with the least guessed cost is compiled.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// Guessed cost of one multiply-add of a large square product, including compiling where that takes seconds (CPUs);
// 1 is ideal.
double cost_guess(const kernels::Params& params, const Device& device);

// How often random points of a family are drawn; 1 for the families made for this type of device.
double family_weight(kernels::Family family, kernels::DeviceType type);

}  // namespace clbake::builder
