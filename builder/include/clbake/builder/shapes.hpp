// The launches that a user's product can need, as classes that drivers compile apart.
#pragma once

#include <clbake/builder/devices.hpp>

#include <vector>

namespace clbake::builder {

// Problems, as small as can be, with k = 1, for which the grids of all launches reach the size class from which PoCL
// compiles another work-group function: 65,535 work-items in x or y (PoCL's "smallgrid"; 3.1 and 5.0 never count z).
std::vector<Problem> large_grids(const cache::Variant& variant);

// The launch that multiplies; copies may come before and a reduction after it. Requires a variant of contract 2.
const cache::Launch& product_launch(const cache::Variant& variant);

// Launches the kernels at every shape that a user's launch can take: small grid and large grid, at the variant's
// local size, offset zero.
Status launch_every_shape(const Session& session, const Device& device, const Library& library,
                          const cache::Variant& variant);

}  // namespace clbake::builder
