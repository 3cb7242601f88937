// What the parameters alone say about a variant's speed. The model only has to be better than chance: of several
// candidates the one with the smallest expected cost is compiled.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// Expected cost of one multiply-add of a large square product, including compiling where that takes seconds (CPUs);
// 1 is ideal.
double expected_cost(const kernels::Params& params, const Device& device);

// How often random points of a family are drawn; 1 for the families made for this type of device.
double family_weight(kernels::Family family, kernels::DeviceType type);

}  // namespace clbake::builder
