// A cost model: what the parameters alone say of a variant's speed. It need not be right, only better than dice: of
// several candidates the most promising one is compiled.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::builder {

// Expected cost of a multiply-add of a large square product, compiling included where that takes seconds; 1 is ideal.
double expected_cost(const kernels::Params& params, const Device& device);

// How often a family is drawn before anything is known of it; 1 for those that are made for the kind of device.
double family_weight(kernels::Family family, kernels::DeviceType kind);

}  // namespace clbake::builder
