// Brings a program to the state in which the driver has nothing left to compile, and takes its binary.
#pragma once

#include <clbake/builder/devices.hpp>

#include <vector>

namespace clbake::builder {

// Problems, as small as can be, with k = 1, for which the grids of all launches reach the size class from which PoCL
// compiles another work-group function: 65,535 work-items in one dimension (PoCL's "smallgrid").
std::vector<Problem> large_grids(const cache::Variant& variant);

// The launch that multiplies; copies may come before and a reduction after it. Requires a variant of contract 2.
const cache::Launch& product_launch(const cache::Variant& variant);

// Launches the kernels at every shape that a user's launch can take: small grid and large grid, at the variant's
// local size, offset zero. Has to come before anybody queries the program's binary: PoCL answers with the binary of
// the first query ever after.
Status launch_every_shape(const Session& session, const Device& device, const Library& library,
                          const cache::Variant& variant);

// The driver's binary of the program. Fails with driver_rejected when the driver has none.
Result<cache::Bytes> program_binary(cl_program program);

// The device of this machine that is the target in every field.
Result<Device> device_of(const Target& target);

// What the bytes are: PTX text and SPIR-V still have to be compiled by whoever loads them.
cache::Form form_of(const cache::Bytes& program);

// Worker, in a process of its own: compiles the only variant of the bundle `job` for the bundle's only target,
// finalizes it unless `plain`, and writes the same bundle with the program in it (not proven) to `output`.
Status compile_job(const std::string& job, const std::string& output, bool plain);

}  // namespace clbake::builder
