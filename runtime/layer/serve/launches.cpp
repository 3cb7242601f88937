// Launches, which the learner is told of: each kind of launch of a kernel once.
#include "down.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"

#include <clbake/launch_kind.hpp>

namespace clbake::layer::serve {
namespace {

// A number for all that drivers make machine code for: local size, and whether the offset is zero and the grid small.
std::uint64_t shape_of(cl_uint dimensions, const std::size_t* offset, const std::size_t* global,
                       const std::size_t* local) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  std::uint64_t shape = dimensions << 1U | (global && is_large_grid(global, dimensions) ? 1U : 0U);
  for (cl_uint i = 0; i < dimensions; ++i) {
    shape = shape * kPrime + ((local ? local[i] : 0) << 1U | (offset && offset[i] != 0 ? 1U : 0U));
  }
  return shape;
}

void note(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
          const std::size_t* global, const std::size_t* local) noexcept {
  if (dimensions == 0 || dimensions > 3 || !learns()) return;
  static_cast<void>(no_throw([&] {
    const std::optional<Kernel> known = registry().is_new(kernel, shape_of(dimensions, offset, global, local));
    if (known) learn_launch(*known->program, known->launched->name, queue, dimensions, offset, global, local);
    return CL_SUCCESS;
  }));
}

}  // namespace

cl_int calls::EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                   const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                                   cl_uint wait_count, const cl_event* waits, cl_event* event) {
  const cl_int error =
      down().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count, waits, event);
  if (error == CL_SUCCESS) note(queue, kernel, dimensions, offset, global, local);
  return error;
}

cl_int calls::EnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event* waits,
                          cl_event* event) {
  const cl_int error = down().clEnqueueTask(queue, kernel, wait_count, waits, event);
  const std::size_t one = 1;
  if (error == CL_SUCCESS) note(queue, kernel, 1, nullptr, &one, &one);
  return error;
}

}  // namespace clbake::layer::serve
