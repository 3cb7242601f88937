// PoCL's part of finalize().
#pragma once

#include <clbake/finalize.hpp>

namespace clbake {

bool is_pocl(const Target& target);

// Launches the variant's kernels once or twice, on the grids that matrices of 16,384 rows or columns need, otherwise
// like launch_every_shape: PoCL then has compiled what nearly all launches need. And PoCL 3.1 aborts the process when a
// kernel is launched on a larger grid than ever before while it runs on a smaller one: what it keeps for the larger one
// is released in place of the other. After this only products beyond that size can meet so, and those of slices of k
// with a C of more than 4 million elements: `widen` is to launch the reduction, if there is one, of the Gemm that was
// enqueued before on a grid for so many elements. What PoCL keeps is the process's: not for one program by two threads
// at once.
using Widen = std::function<cl_int(Gemm& gemm, cl_command_queue queue, std::size_t elements)>;
Status launch_usual_shape(cl_context context, cl_device_id device, const cache::Variant& variant,
                          const std::function<Result<Gemm>(const Problem&)>& prepare, const Widen& widen);

Result<std::vector<cache::Entry>> finalize_pocl(const Compiled& compiled);

}  // namespace clbake
