// Kernels: of a baked program where there is one, of the application's program as far as the application can see. And
// their launches, which the learner is told of: each kind of launch of a kernel once.
#include "down.hpp"
#include "opencl/cl.hpp"
#include "questions.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"
#include "serve/load.hpp"

#include <clbake/launch_kind.hpp>

#include <string>
#include <utility>

namespace clbake::layer::serve {
namespace {

// Kernels of one name share what was seen of their launches: applications make a kernel for each launch.
std::shared_ptr<Launched> launched_of(Program& program, const std::string& name) {
  const std::lock_guard<std::mutex> lock(program.mutex);
  std::shared_ptr<Launched>& launched = program.launched[name];
  if (!launched) {
    launched = std::make_shared<Launched>();
    launched->name = name;
  }
  return launched;
}

// `from`: the program of the driver that the kernel is of. A kernel of the baked program holds the application's
// program, as a kernel of that program would. `name`: the kernel's; null where the driver has to be asked for it.
cl_kernel register_kernel(cl_kernel kernel, const std::shared_ptr<Program>& program, cl_program from,
                          const char* name = nullptr) {
  const bool holds = from != program->handle;
  try {
    std::shared_ptr<Launched> launched;
    if (learns()) launched = launched_of(*program, name ? name : name_of(kernel));
    registry().add(kernel, program, holds, std::move(launched));
  } catch (...) {
    down().clReleaseKernel(kernel);
    throw;
  }
  if (holds) down().clRetainProgram(program->handle);
  return kernel;
}

// True where the driver tells the names of the program's kernels, and this is none of them.
bool has_no_kernel(cl_program program, const std::string& name) {
  const std::string names = info_text(program, CL_PROGRAM_KERNEL_NAMES);
  return !names.empty() && (";" + names + ";").find(";" + name + ";") == std::string::npos;
}

// True for failures that may be due to the baked program.
bool may_be_baking(cl_int error) {
  return error == CL_INVALID_KERNEL_NAME || error == CL_INVALID_PROGRAM_EXECUTABLE ||
         error == CL_INVALID_KERNEL_DEFINITION;
}

// The same kernel of the program that the driver compiled; null if it has none.
cl::Kernel source_kernel(Program& program, cl_kernel kernel) {
  const std::string name = name_of(kernel);
  const cl_program source = source_of(program, "the arguments of kernel " + name + " are asked for");
  cl_int error = CL_SUCCESS;
  return cl::Kernel(source ? down().clCreateKernel(source, name.c_str(), &error) : nullptr);
}

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

cl_kernel calls::CreateKernel(cl_program handle, const char* name, cl_int* error_ret) {
  return make(error_ret, [&](cl_int& error) -> cl_kernel {
    const std::shared_ptr<Program> program = registry().find(handle);
    if (!program) return down().clCreateKernel(handle, name, &error);
    const std::shared_ptr<const Baked> baked = program->served();
    cl_program from = baked ? baked->program : handle;
    cl_kernel kernel = down().clCreateKernel(from, name, &error);
    if (!kernel && baked && name && may_be_baking(error) && !has_no_kernel(from, name)) {
      from = source_of(*program, "the baked program has no kernel " + std::string(name));
      if (from) kernel = down().clCreateKernel(from, name, &error);
    }
    return kernel ? register_kernel(kernel, program, from, name) : nullptr;
  });
}

cl_int calls::CreateKernelsInProgram(cl_program handle, cl_uint count, cl_kernel* kernels, cl_uint* count_ret) {
  return no_throw([&] {
    const std::shared_ptr<Program> program = registry().find(handle);
    const std::shared_ptr<const Baked> baked = program ? program->served() : nullptr;
    cl_program from = baked ? baked->program : handle;
    cl_uint made = 0;
    cl_int error = down().clCreateKernelsInProgram(from, count, kernels, &made);
    if (baked && may_be_baking(error)) {
      from = source_of(*program, "the baked program has no kernels");
      if (from) error = down().clCreateKernelsInProgram(from, count, kernels, &made);
    }
    if (error != CL_SUCCESS) return error;
    for (cl_uint i = 0; program && kernels && i < made; ++i) register_kernel(kernels[i], program, from);
    if (count_ret) *count_ret = made;
    return error;
  });
}

cl_kernel calls::CloneKernel(cl_kernel original, cl_int* error_ret) {
  return make(error_ret, [&](cl_int& error) -> cl_kernel {
    const cl_kernel kernel = down().clCloneKernel(original, &error);
    const std::shared_ptr<Program> program = kernel ? registry().program_of(original) : nullptr;
    if (!program) return kernel;
    cl_program from = nullptr;
    static_cast<void>(down().clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof from, &from, nullptr));
    return register_kernel(kernel, program, from);
  });
}

cl_int calls::RetainKernel(cl_kernel kernel) {
  const cl_int error = down().clRetainKernel(kernel);
  if (error == CL_SUCCESS) registry().retain(kernel);
  return error;
}

cl_int calls::ReleaseKernel(cl_kernel kernel) {
  return no_throw([&] {
    const std::unique_ptr<Kernel> last = registry().release(kernel);  // before another kernel can get this handle
    const cl_int error = down().clReleaseKernel(kernel);
    if (last && last->holds) down().clReleaseProgram(last->program->handle);
    return error;
  });
}

cl_int calls::GetKernelInfo(cl_kernel kernel, cl_kernel_info what, std::size_t size, void* value,
                            std::size_t* size_ret) {
  const std::shared_ptr<Program> program = what == CL_KERNEL_PROGRAM ? registry().program_of(kernel) : nullptr;
  if (program) return Answer{size, value, size_ret}.number(program->handle);
  return down().clGetKernelInfo(kernel, what, size, value, size_ret);
}

cl_int calls::GetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, std::size_t size, void* value,
                               std::size_t* size_ret) {
  return no_throw([&] {
    const cl_int error = down().clGetKernelArgInfo(kernel, index, what, size, value, size_ret);
    if (error == CL_SUCCESS || error == CL_INVALID_ARG_INDEX || error == CL_INVALID_KERNEL) return error;
    const std::shared_ptr<Program> program = registry().program_of(kernel);
    if (!program || !program->served()) return error;
    const cl::Kernel compiled = source_kernel(*program, kernel);
    return compiled() ? down().clGetKernelArgInfo(compiled(), index, what, size, value, size_ret) : error;
  });
}

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
