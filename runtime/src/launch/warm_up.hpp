// Launches of the library's own: on zeros before a user's first product, so that no driver compiles, or fails, inside
// that; and of a product whose result is known.
//
// PoCL compiles a work-group function at the first launch of each shape: local size, and whether the grid has 65,535
// work-items or more in x or y. And PoCL 3.1 may abort the process when a kernel is launched on a larger grid than ever
// before while it runs on a smaller one. One launch on the grid of a large matrix avoids both, except for more than
// 16,384 rows or columns and, where k is split, a C of more than 4 million elements.
#pragma once

#include "opencl/cl.hpp"
#include "program/program.hpp"

namespace clbake {

// Launches the program's kernels on the widest grid that matrices of 16,384 rows or columns need, the reduction on one
// for 4 million elements, and waits. PoCL keeps its state for each process, so only one thread at a time does this for
// one program; others wait. Returns the microseconds it took, 0 when it failed.
double launch_usual_grids(const cl::Context& context, const cl::Device& device, const Program& program);

// Launches all kernels at every shape that a user's launch can have: small grid and large grid, at the variant's local
// size, offset zero; on some MB of zeros, and waits for the end.
Status launch_every_shape(const cl::Context& context, const cl::Device& device, const Program& program);

// Computes products of whole numbers, a little larger than a tile, and compares each element with what is known. Fails
// with driver_rejected when one is wrong, or with the failure of the product.
Status check_product(const cl::Context& context, const cl::Device& device, const Program& program);

}  // namespace clbake
