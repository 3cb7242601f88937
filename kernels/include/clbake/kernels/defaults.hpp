// Known good points: baked beside what a tuning chose, or alone without one. A search starts from them.
#pragma once

#include <clbake/kernels/constraints.hpp>

namespace clbake::kernels {

// For each pair of transposes: `direct`, which runs everywhere, and the best known points of the family made for the
// type of device (register_tile, local_tile), one for large problems and one for small ones. vector_bytes: size of a
// vector register, 16 for NEON, 32 for AVX2, 64 for AVX-512; GPUs ignore it. All pass `check` on any device that has
// the precision, 32 KiB of local memory and work-groups of 256 work-items.
// `dots`: has_dots of the device; without it they pass.
std::vector<Params> default_variants(DeviceType type, Precision precision, std::uint32_t vector_bytes = 64,
                                     bool dots = false);

// For groups of products: the points that serve those with large tiles, and on GPUs with small ones, too, for each pair
// of transposes. None for mixed products.
std::vector<Params> group_variants(DeviceType type, Precision precision, std::uint32_t vector_bytes = 64);

// Further points at which a search starts: each beats the defaults on some class of shapes. For CPUs a tile that packs
// op(A), with AVX-512 a tall one, and one for a few dozen columns; for GPUs tiles that make other numbers of
// work-groups, and slices of k; for doubles and 16 bits with the matrix units of NVIDIA's devices before sm_90. Not
// transposed. Whether a device admits one is for the caller to check.
std::vector<Params> specialists(DeviceType type, Precision precision, std::uint32_t vector_bytes = 64);

}  // namespace clbake::kernels
