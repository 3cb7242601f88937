// Kernels and their arguments.
#include "fake_opencl/objects.hpp"

#include <algorithm>
#include <cstring>

using namespace fake;

namespace {

struct Named {
  const char* name;
  Role role;
};
constexpr Named kKernels[] = {{"clbake_gemm", Role::gemm},           {"clbake_pack_a", Role::pack_a},
                              {"clbake_pack_b", Role::pack_b},       {"clbake_reduce", Role::reduce},
                              {"clbake_complex_a", Role::complex_a}, {"clbake_complex_b", Role::complex_b},
                              {"clbake_complex_c", Role::complex_c}};

// The text that defines a macro among build options; empty without it.
std::string definition(const std::string& options, const std::string& name) {
  const std::string wanted = " -D" + name + "=";
  std::string text = " " + options + " ";
  for (std::size_t at = text.find("-D "); at != std::string::npos; at = text.find("-D ")) text.erase(at + 2, 1);
  const std::size_t at = text.find(wanted);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + wanted.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

int macro(const std::string& options, const std::string& name, int otherwise) {
  const std::string text = definition(options, name);
  return text.empty() ? otherwise : static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

bool packed(const std::string& options, const std::string& name) {
  const std::string layout = definition(options, name);
  return !layout.empty() && layout != "ROW_MAJOR";
}

Macros macros_of(const std::string& options) {
  Macros m;
  m.precision = macro(options, "PRECISION", m.precision);
  m.bfloat16 = macro(options, "BFLOAT16", m.bfloat16);
  m.trans_a = macro(options, "TRANS_A", m.trans_a);
  m.trans_b = macro(options, "TRANS_B", m.trans_b);
  m.packed_a = packed(options, "LAYOUT_A");
  m.packed_b = packed(options, "LAYOUT_B");
  m.split_k = macro(options, "SPLIT_K", m.split_k);
  m.ml = macro(options, "ML", m.ml);
  m.nl = macro(options, "NL", m.nl);
  m.kl = macro(options, "KL", m.kl);
  m.items = macro(options, "ITEMS", m.items);
  return m;
}

bool has(const Macros& macros, Role role) {
  switch (role) {
    case Role::gemm: return macros.items == 0;
    case Role::pack_a: return macros.packed_a;
    case Role::pack_b: return macros.packed_b;
    case Role::reduce: return macros.split_k > 1;
    case Role::complex_a:
    case Role::complex_b:
    case Role::complex_c: return macros.items > 0;
  }
  return false;
}

const Program::Build* executable(const Program& program) {
  for (const Program::Build& build : program.builds) {
    if (build.status == CL_BUILD_SUCCESS) return &build;
  }
  return nullptr;
}

std::size_t bytes_of(char kind, const Macros& macros) {
  switch (kind) {
    case 'i': return sizeof(cl_int);
    case 'R': return macros.precision == 64 ? sizeof(cl_double) : sizeof(cl_float);
    case 'Q': return 2 * bytes_of('R', macros);
    case 'V': return 4 * bytes_of('R', macros);
    case 'N': return sizeof(Numbers);
    default: return 8;  // ulong, or a handle
  }
}

}  // namespace

namespace fake {

const char* signature(Role role) {
  switch (role) {
    case Role::gemm: return "MMMOOONV";
    case Role::reduce: return "MMOOONV";
    case Role::complex_a: return "iiMLiLOiMLiiR";
    case Role::complex_b: return "iiMLiLOiMLiQRR";
    case Role::complex_c: return "iiMLiLOiQ";
    default: return "MMON";  // packing
  }
}

const char* kernel_name(Role role) {
  return std::find_if(std::begin(kKernels), std::end(kKernels), [&](const Named& k) { return k.role == role; })->name;
}

std::string kernel_names(const std::string& build_options) {
  const Macros macros = macros_of(build_options);
  std::string names;
  for (const Named& kernel : kKernels) {
    if (has(macros, kernel.role)) names += (names.empty() ? "" : ";") + std::string(kernel.name);
  }
  return names;
}

}  // namespace fake

cl_kernel clCreateKernel(cl_program id, const char* wanted, cl_int* error) {
  const Call call(Function::clCreateKernel);
  auto* program = object<Program>(id);
  cl_int result = call.refusal(program);
  if (result == CL_SUCCESS && !wanted) result = CL_INVALID_VALUE;
  const Program::Build* build = result == CL_SUCCESS ? executable(*program) : nullptr;
  if (result == CL_SUCCESS && !build) result = CL_INVALID_PROGRAM_EXECUTABLE;
  const Macros macros = build ? macros_of(build->options) : Macros();
  const Named* const found = std::find_if(std::begin(kKernels), std::end(kKernels), [&](const Named& kernel) {
    return result == CL_SUCCESS && std::strcmp(kernel.name, wanted) == 0 && has(macros, kernel.role);
  });
  if (result == CL_SUCCESS && found == std::end(kKernels)) result = CL_INVALID_KERNEL_NAME;
  return create(error, result, [&] {
    auto* kernel = new Kernel(program, found->role);
    kernel->macros = macros;
    ++program->kernels;
    return kernel;
  });
}

cl_int clRetainKernel(cl_kernel id) {
  const Call call(Function::clRetainKernel);
  return call.retain(object<Kernel>(id));
}

cl_int clReleaseKernel(cl_kernel id) {
  const Call call(Function::clReleaseKernel);
  auto* kernel = object<Kernel>(id);
  const bool last = call.valid(kernel) && kernel->references == 1;
  if (last) --kernel->program->kernels;  // whose last reference this may be
  return call.release(kernel);
}

cl_int clSetKernelArg(cl_kernel id, cl_uint index, size_t size, const void* value) {
  const Call call(Function::clSetKernelArg);
  auto* kernel = object<Kernel>(id);
  if (const cl_int refused = call.refusal(kernel)) return refused;
  const char* const kinds = signature(kernel->role);
  if (index >= std::strlen(kinds)) return CL_INVALID_ARG_INDEX;
  const char kind = kinds[index];
  if (size != bytes_of(kind, kernel->macros)) return CL_INVALID_ARG_SIZE;
  const bool memory = kind == 'M' || kind == 'O';
  if (!value && !memory) return CL_INVALID_ARG_VALUE;
  unsigned char bytes[sizeof kernel->arguments.bytes[0]] = {};
  if (value) std::memcpy(bytes, value, size);
  cl_mem passed = nullptr;
  std::memcpy(&passed, bytes, sizeof passed);
  if (memory && passed && !call.valid(object<Memory>(passed))) return CL_INVALID_MEM_OBJECT;
  if (kind == 'M' && !passed) return CL_INVALID_MEM_OBJECT;
  std::memcpy(kernel->arguments.bytes[index], bytes, sizeof bytes);
  kernel->arguments.set[index] = true;
  return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel id, cl_device_id /*device*/, cl_kernel_work_group_info what, size_t size,
                                void* value, size_t* size_ret) {
  const Call call(Function::clGetKernelWorkGroupInfo);
  if (const cl_int refused = call.refusal(object<Kernel>(id))) return refused;
  const Answer answer{size, value, size_ret};
  const std::size_t none[3] = {0, 0, 0};
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return answer.number<std::size_t>(256);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return answer.bytes(none, sizeof none);
    default: return CL_INVALID_VALUE;
  }
}
