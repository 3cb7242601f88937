#include "record/kernels.hpp"

#include "down.hpp"
#include "questions.hpp"
#include "record/guard.hpp"
#include "record/programs.hpp"

#include <unordered_map>

namespace clbake::layer::record {
namespace {

// States stay behind when a kernel is released: its address gets a new one when a kernel is created there.
std::unordered_map<cl_kernel, KernelState>& states() {
  static auto& all = *new std::unordered_map<cl_kernel, KernelState>;
  return all;
}

void created(cl_kernel kernel, cl_program program, const std::string& name) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  states().erase(kernel);
  SeenProgram* seen = built_program(program);
  if (seen && !name.empty()) states()[kernel].kernel = &see(*seen, name);
}

void set(cl_kernel kernel, cl_uint index, Argument argument) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  KernelState* state = state_of(kernel);
  if (!state) return;
  if (state->arguments.size() <= index) state->arguments.resize(index + 1);
  state->arguments[index] = std::move(argument);
}

// ---- The functions that take the place of the driver's ----

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
  cl_kernel kernel = down().clCreateKernel(program, name, error);
  if (kernel) guarded([&] { created(kernel, program, name); });
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* count_ret) {
  cl_uint made = 0;
  const cl_int error = down().clCreateKernelsInProgram(program, count, kernels, &made);
  if (count_ret) *count_ret = made;
  for (cl_uint i = 0; error == CL_SUCCESS && kernels && i < made && i < count; ++i) {
    guarded([&] { created(kernels[i], program, name_of(kernels[i])); });
  }
  return error;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int* error) {
  cl_kernel kernel = down().clCloneKernel(source, error);
  if (!kernel) return kernel;
  guarded([&] {
    const std::lock_guard<std::mutex> lock(seen_mutex());
    states().erase(kernel);
    if (const KernelState* state = state_of(source)) {
      KernelState copy = *state;
      states()[kernel] = std::move(copy);
    }
  });
  return kernel;
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  const cl_int error = down().clSetKernelArg(kernel, index, size, value);
  if (error != CL_SUCCESS) return error;
  guarded([&] {
    const auto* bytes = static_cast<const std::uint8_t*>(value);
    set(kernel, index,
        value ? Argument{Argument::Kind::bytes, size, {bytes, bytes + size}}
              : Argument{Argument::Kind::local, size, {}});
  });
  return error;
}

cl_int CL_API_CALL set_shared_argument(cl_kernel kernel, cl_uint index, const void* value) {
  const cl_int error = down().clSetKernelArgSVMPointer(kernel, index, value);
  if (error == CL_SUCCESS) guarded([&] { set(kernel, index, {Argument::Kind::shared, 0, {}}); });
  return error;
}

cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value) {
  guarded([&] {
    const std::lock_guard<std::mutex> lock(seen_mutex());
    if (KernelState* state = state_of(kernel)) state->has_indirect = true;
  });
  return down().clSetKernelExecInfo(kernel, what, size, value);
}

}  // namespace

KernelState* state_of(cl_kernel kernel) {
  const auto found = states().find(kernel);
  return found == states().end() ? nullptr : &found->second;
}

void install_kernels(cl_icd_dispatch& table) {
  replace(table.clCreateKernel, create_kernel);
  replace(table.clCreateKernelsInProgram, create_kernels);
  replace(table.clCloneKernel, clone_kernel);
  replace(table.clSetKernelArg, set_argument);
  replace(table.clSetKernelArgSVMPointer, set_shared_argument);
  replace(table.clSetKernelExecInfo, set_exec_info);
}

}  // namespace clbake::layer::record
