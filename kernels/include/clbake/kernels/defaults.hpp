// What is baked for a device when nothing was tuned.
#pragma once

#include <clbake/kernels/constraints.hpp>

namespace clbake::kernels {

enum class DeviceKind { cpu, gpu };

// For each transpose `direct`, which runs everywhere, and the best Params known of the family made for the kind of
// device, one point for large problems and one for small ones. vector_bytes: of the device's vector registers; AVX2 has
// 32, AVX-512 64. All satisfy `check` on any device that has the precision, 32 KiB of local memory and work-groups of
// 256 work-items.
std::vector<Params> default_variants(DeviceKind kind, Precision precision, std::uint32_t vector_bytes = 64);

// Points that beat those on shapes which square ones say nothing of, where a search starts, too: for CPUs a tile of two
// rows, up to twice as fast for m = 1. Without transposes; `admits` (constraints.hpp) says whether a device can run
// them.
std::vector<Params> specialists(DeviceKind kind, Precision precision, std::uint32_t vector_bytes = 64);

}  // namespace clbake::kernels
