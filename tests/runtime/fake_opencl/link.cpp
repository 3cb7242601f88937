// Functions that programs call and the runtime does not: compiling and linking in steps, SPIR-V, all kernels at once,
// and what kernels tell of themselves.
#include "fake_opencl/objects.hpp"

#include <cstring>

using namespace fake;

namespace {

// The names of a program's kernels.
std::vector<std::string> names_of(const Program& program) {
  std::vector<std::string> names;
  for (const Program::Build& build : program.builds) {
    if (build.status != CL_BUILD_SUCCESS) continue;
    const std::string all = kernel_names(build.options) + ";";
    for (std::size_t at = 0; at < all.size(); at = all.find(';', at) + 1) {
      names.push_back(all.substr(at, all.find(';', at) - at));
    }
    break;
  }
  return names;
}

}  // namespace

cl_program clCreateProgramWithIL(cl_context id, const void* il, size_t size, cl_int* error) {
  const Call call(Function::clCreateProgramWithIL);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && (!il || size == 0)) result = CL_INVALID_VALUE;
  return create(error, result, [&] {
    auto* program = new Program(context);
    program->source.assign(static_cast<const char*>(il), size);
    show(program->source);
    return program;
  });
}

cl_int clCompileProgram(cl_program id, cl_uint count, const cl_device_id* devices, const char* options, cl_uint headers,
                        const cl_program* header_programs, const char** names,
                        void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  const Call call(Function::clCompileProgram);
  auto* program = object<Program>(id);
  if (const cl_int refused = call.refusal(program)) return refused;
  if ((count == 0) != (devices == nullptr) || (headers == 0) != (names == nullptr)) return CL_INVALID_VALUE;
  if (program->kernels > 0) return CL_INVALID_OPERATION;
  for (cl_uint i = 0; i < headers; ++i) {
    if (!call.valid(object<Program>(header_programs[i]))) return CL_INVALID_PROGRAM;
  }
  program->compile_options = options ? options : "";
  program->is_compiled = program->source.rfind("#error", 0) != 0;
  for (Program::Build& build : program->builds) build.log = program->is_compiled ? "" : program->source;
  report(notify, id, data);
  return program->is_compiled ? CL_SUCCESS : CL_COMPILE_PROGRAM_FAILURE;
}

cl_program clLinkProgram(cl_context id, cl_uint count, const cl_device_id* devices, const char* options, cl_uint parts,
                         const cl_program* programs, void(CL_CALLBACK* notify)(cl_program, void*), void* data,
                         cl_int* error) {
  const Call call(Function::clLinkProgram);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && ((count == 0) != (devices == nullptr) || parts == 0)) result = CL_INVALID_VALUE;
  for (cl_uint i = 0; result == CL_SUCCESS && i < parts; ++i) {
    const auto* part = object<Program>(programs[i]);
    if (!call.valid(part))
      result = CL_INVALID_PROGRAM;
    else if (!part->is_compiled)
      result = CL_INVALID_OPERATION;
  }
  const cl_program linked = create(error, result, [&] {
    const auto* last = object<Program>(programs[parts - 1]);
    auto* program = new Program(context);
    program->source = last->source;
    program->is_compiled = true;
    const std::string all = last->compile_options + (options ? std::string(" ") + options : std::string());
    for (std::size_t i = 0; i < (devices ? count : context->devices.size()); ++i) {
      build(*program, *object<Device>(devices ? devices[i] : context->devices[i]), all.c_str());
    }
    program->source.clear();
    return program;
  });
  if (linked) report(notify, linked, data);
  return linked;
}

cl_int clCreateKernelsInProgram(cl_program id, cl_uint count, cl_kernel* kernels, cl_uint* found) {
  const Call call(Function::clCreateKernelsInProgram);
  const auto* program = object<Program>(id);
  if (const cl_int refused = call.refusal(program)) return refused;
  const std::vector<std::string> names = names_of(*program);
  if (names.empty()) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (kernels && count < names.size()) return CL_INVALID_VALUE;
  for (std::size_t i = 0; kernels && i < names.size(); ++i) {
    kernels[i] = clCreateKernel(id, names[i].c_str(), nullptr);
  }
  if (found) *found = static_cast<cl_uint>(names.size());
  return CL_SUCCESS;
}

cl_kernel clCloneKernel(cl_kernel id, cl_int* error) {
  const Call call(Function::clCloneKernel);
  const auto* kernel = object<Kernel>(id);
  return create(error, call.refusal(kernel), [&] {
    auto* clone = new Kernel(kernel->program, kernel->role);
    clone->macros = kernel->macros;
    clone->arguments = kernel->arguments;
    ++kernel->program->kernels;
    return clone;
  });
}

cl_int clGetKernelInfo(cl_kernel id, cl_kernel_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetKernelInfo);
  const auto* kernel = object<Kernel>(id);
  if (const cl_int refused = call.refusal(kernel)) return refused;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return answer.text(kernel_name(kernel->role));
    case CL_KERNEL_NUM_ARGS: return answer.number(static_cast<cl_uint>(std::strlen(signature(kernel->role))));
    case CL_KERNEL_REFERENCE_COUNT: return answer.number(static_cast<cl_uint>(kernel->references));
    case CL_KERNEL_PROGRAM: return answer.number(handle(kernel->program));
    case CL_KERNEL_CONTEXT: return answer.number(handle(kernel->program->context));
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetKernelArgInfo(cl_kernel id, cl_uint index, cl_kernel_arg_info what, size_t size, void* value,
                          size_t* size_ret) {
  const Call call(Function::clGetKernelArgInfo);
  const auto* kernel = object<Kernel>(id);
  if (const cl_int refused = call.refusal(kernel)) return refused;
  if (index >= std::strlen(signature(kernel->role))) return CL_INVALID_ARG_INDEX;
  for (const Program::Build& build : kernel->program->builds) {
    if (build.from_binary) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  }
  if (what != CL_KERNEL_ARG_NAME) return CL_INVALID_VALUE;
  return Answer{size, value, size_ret}.text("argument_" + std::to_string(index));
}

// There is no shared virtual memory, but nobody must come to the system's function.
cl_int clSetKernelArgSVMPointer(cl_kernel /*kernel*/, cl_uint /*index*/, const void* /*pointer*/) {
  return CL_INVALID_OPERATION;
}
