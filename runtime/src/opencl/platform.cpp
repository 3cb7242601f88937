#include <clbake/platform.hpp>

#include <clbake/clbake.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/os/libraries.hpp>

#include "opencl/cl.hpp"
#include "opencl/cpu_features.hpp"
#include "opencl/no_function.hpp"

namespace clbake {
namespace {

using Id = PlatformId;
using A = Architecture;
using B = Binaries;

// The last row stands for all other names.
constexpr Platform kPlatforms[] = {
    // name, id, binaries, architecture, runs_on_host, loads_older_code, needs_events, unpacks_programs, preloadable
    {"Portable Computing Language", Id::pocl, B::functions, A::llvm_cpu, true, false, true, true, nullptr},
    {"NVIDIA CUDA", Id::nvidia, B::intermediate, A::compute_capability, false, true, false, false,
     "libnvidia-nvvm.so.4"},
    {"AMD Accelerated Parallel Processing", Id::amd, B::after_launches, A::gfx_name, true, false, true, false, nullptr},
    {"Intel(R) OpenCL HD Graphics", Id::intel_gpu, B::after_launches, A::none, false, false, true, false, nullptr},
    {"Intel(R) OpenCL Graphics", Id::intel_gpu, B::after_launches, A::none, false, false, true, false, nullptr},
    {"Intel(R) OpenCL", Id::intel_cpu, B::after_launches, A::none, true, false, true, false, nullptr},
    {"rusticl", Id::rusticl, B::intermediate, A::none, false, false, true, false, nullptr},
    {"Oclgrind", Id::oclgrind, B::after_launches, A::none, false, false, true, false, nullptr},
    {"", Id::other, B::after_launches, A::gfx_name, true, false, true, false, nullptr},
};

// Opens the library by the name by which the driver does, so that the first program finds it loaded. Never closes it,
// as the driver does not close it either.
Status preload_for(cl_platform_id id) {
  if (!id) return {Argument::platform, "platform is null"};
  cl_int error = CL_SUCCESS;
  const std::string name = platform_text(id, CL_PLATFORM_NAME, error);
  if (error != CL_SUCCESS) return opencl_status("clGetPlatformInfo", error);
  const char* const library = platform_named(name).preloadable;
  if (!library || os::open_library(library)) return {};
  return {Code::not_found, joined({library, " is not in the search path of libraries"})};
}

// From cl_nv_device_attribute_query; not in Khronos' core headers.
constexpr cl_device_info kComputeCapabilityMajorNv = 0x4000;
constexpr cl_device_info kComputeCapabilityMinorNv = 0x4001;

// Text without the blanks that some drivers put around it.
std::string trimmed(std::string text) {
  const char* blanks = " \t\r\n";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  text.erase(text.find_last_not_of(blanks) + 1);
  text.erase(0, text.find_first_not_of(blanks));
  return text;
}

// The compute capability, as NVIDIA's compilers name it.
std::string nvidia_architecture(const cl::Device& device) {
  cl_uint major = 0;
  cl_uint minor = 0;
  if (clGetDeviceInfo(device(), kComputeCapabilityMajorNv, sizeof major, &major, nullptr) != CL_SUCCESS) return {};
  if (clGetDeviceInfo(device(), kComputeCapabilityMinorNv, sizeof minor, &minor, nullptr) != CL_SUCCESS) return {};
  return joined({"sm_", major, minor});
}

// PoCL's device version ends in an LLVM triple and CPU: "... HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512". With
// "(null)", as Debian's on AArch64, its LLVM was told of none.
std::string llvm_cpu(const std::string& device_version) {
  const std::string system = "-gnu-";
  const std::size_t at = device_version.rfind(system);
  if (at == std::string::npos) return {};
  const std::string cpu = device_version.substr(at + system.size());
  return cpu == "(null)" ? "generic" : cpu;
}

std::string architecture(const cl::Device& device, const Target& target) {
  switch (platform_of(target).architecture) {
    case Architecture::compute_capability: return nvidia_architecture(device);
    case Architecture::llvm_cpu: return llvm_cpu(target.device_version);
    case Architecture::gfx_name: return target.device_name.rfind("gfx", 0) == 0 ? target.device_name : std::string();
    case Architecture::none: break;
  }
  return {};
}

// Adds the build of the library that holds the driver, found by the one function that each driver gives to loaders. Two
// builds of a version may have other compilers inside.
void add_build(cl_platform_id platform, std::string& version) {
  const void* const function = clGetExtensionFunctionAddressForPlatform(platform, "clIcdGetPlatformIDsKHR");
  const std::string build = function ? os::build_of_module(function) : std::string();
  if (!build.empty()) version.append(" build ").append(build);
}

bool has_word(const std::string& words, const char* word) {
  return joined({" ", words, " "}).find(joined({" ", word, " "})) != std::string::npos;
}

Result<Target> identify_device(cl_device_id id) {
  if (!id) return {Argument::device, "device is null"};
  const cl::Device device(id, true);
  cl_int error = CL_SUCCESS;
  cl_platform_id platform = nullptr;
  if (error = cl::info(device, CL_DEVICE_PLATFORM, platform); error != CL_SUCCESS) {
    return opencl_status("clGetDeviceInfo", error);
  }

  Target target;
  target.platform_name = trimmed(platform_text(platform, CL_PLATFORM_NAME, error));
  if (error == CL_SUCCESS) target.platform_version = trimmed(platform_text(platform, CL_PLATFORM_VERSION, error));
  if (error != CL_SUCCESS) return opencl_status("clGetPlatformInfo", error);
  add_build(platform, target.platform_version);
  const auto text = [&](cl_device_info what) {
    if (error != CL_SUCCESS) return std::string();
    return trimmed(cl::text(error, [&](std::size_t size, char* to, std::size_t* size_ret) {
      return clGetDeviceInfo(id, what, size, to, size_ret);
    }));
  };
  target.vendor = text(CL_DEVICE_VENDOR);
  target.device_name = text(CL_DEVICE_NAME);
  target.device_version = text(CL_DEVICE_VERSION);
  target.driver_version = text(CL_DRIVER_VERSION);
  if (error == CL_SUCCESS) error = cl::info(device, CL_DEVICE_ADDRESS_BITS, target.address_bits);
  if (error != CL_SUCCESS) return opencl_status("clGetDeviceInfo", error);
  target.architecture = architecture(device, target);
  cl_device_type type = 0;
  if (error = cl::info(device, CL_DEVICE_TYPE, type); error != CL_SUCCESS) {
    return opencl_status("clGetDeviceInfo", error);
  }
  const bool is_host = (type & CL_DEVICE_TYPE_CPU) != 0 && platform_of(target).runs_on_host;
  if (is_host) target.cpu_features = cpu_features(target.architecture);
  return target;
}

// Names of the OpenCL 1.2 error codes that the calls used here can return, without "CL_". Characters instead of
// pointers: the loader has nothing to relocate.
struct ErrorName {
  std::int16_t error;
  char name[30];
};
#define CLBAKE_NAME(error) \
  { CL_##error, #error }
constexpr ErrorName kErrorNames[] = {
    CLBAKE_NAME(DEVICE_NOT_FOUND),
    CLBAKE_NAME(DEVICE_NOT_AVAILABLE),
    CLBAKE_NAME(COMPILER_NOT_AVAILABLE),
    CLBAKE_NAME(MEM_OBJECT_ALLOCATION_FAILURE),
    CLBAKE_NAME(OUT_OF_RESOURCES),
    CLBAKE_NAME(OUT_OF_HOST_MEMORY),
    CLBAKE_NAME(BUILD_PROGRAM_FAILURE),
    CLBAKE_NAME(INVALID_VALUE),
    CLBAKE_NAME(INVALID_PLATFORM),
    CLBAKE_NAME(INVALID_DEVICE),
    CLBAKE_NAME(INVALID_CONTEXT),
    CLBAKE_NAME(INVALID_COMMAND_QUEUE),
    CLBAKE_NAME(INVALID_MEM_OBJECT),
    CLBAKE_NAME(INVALID_BINARY),
    CLBAKE_NAME(INVALID_BUILD_OPTIONS),
    CLBAKE_NAME(INVALID_PROGRAM),
    CLBAKE_NAME(INVALID_PROGRAM_EXECUTABLE),
    CLBAKE_NAME(INVALID_KERNEL_NAME),
    CLBAKE_NAME(INVALID_KERNEL_DEFINITION),
    CLBAKE_NAME(INVALID_KERNEL),
    CLBAKE_NAME(INVALID_ARG_INDEX),
    CLBAKE_NAME(INVALID_ARG_VALUE),
    CLBAKE_NAME(INVALID_ARG_SIZE),
    CLBAKE_NAME(INVALID_KERNEL_ARGS),
    CLBAKE_NAME(INVALID_WORK_GROUP_SIZE),
    CLBAKE_NAME(INVALID_WORK_ITEM_SIZE),
    CLBAKE_NAME(INVALID_EVENT_WAIT_LIST),
    CLBAKE_NAME(INVALID_EVENT),
    CLBAKE_NAME(INVALID_OPERATION),
    CLBAKE_NAME(INVALID_BUFFER_SIZE),
    CLBAKE_NAME(INVALID_GLOBAL_WORK_SIZE),
    {-1001, "PLATFORM_NOT_FOUND_KHR"},
};
#undef CLBAKE_NAME

bool is_allocation_failure(cl_int error) {
  return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES;
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info what, cl_int& error) {
  return cl::text(error, [&](std::size_t size, char* to, std::size_t* size_ret) {
    return clGetPlatformInfo(platform, what, size, to, size_ret);
  });
}

std::string opencl_error(cl_int error) {
  const std::string number = std::to_string(error);
  if (error == kNoFunction) {
    return joined({"no such function, or no OpenCL was opened: clbake/opencl/load.hpp (", number, ")"});
  }
  for (const ErrorName& known : kErrorNames) {
    if (known.error == error) return joined({"CL_", known.name, " (", number, ")"});
  }
  return joined({"OpenCL error ", number});
}

Status opencl_status(const char* call, cl_int error) {
  if (error == CL_SUCCESS) return {};
  return {is_allocation_failure(error) ? Code::out_of_memory : Code::opencl, joined({call, ": ", opencl_error(error)}),
          error};
}

void* extension_function(const cl::Device& device, const char* name) {
  cl_platform_id platform = nullptr;
  if (cl::info(device, CL_DEVICE_PLATFORM, platform) != CL_SUCCESS) return nullptr;
  return clGetExtensionFunctionAddressForPlatform(platform, name);
}

const Platform& platform_named(const std::string& name) {
  const Platform* row = kPlatforms;
  while (row->id != Id::other && name != row->name) ++row;
  return *row;
}

const Platform& platform_of(const cache::Target& target) { return platform_named(target.platform_name); }

const char* assembler_feature(const cache::Variant& variant) {
  const bool dots = !variant.is_program() && variant.build_options.find(" -DDOTS=1") != std::string::npos;
  return !dots ? "" : variant.precision == Precision::bfloat16 ? "avx512bf16" : "avx512vnni";
}

Status lacks_assembler(const cache::Variant& variant) {
  return {Code::missing_feature,
          joined({variant.name, " needs ", assembler_feature(variant), ", which this CPU or its driver lacks"})};
}

// PoCL compiles with LLVM, whose assembler knows instructions that the CPU it compiles for lacks; but it must know the
// registers.
std::string assembler_features(const cache::Target& device) {
  const bool takes = platform_of(device).id == PlatformId::pocl && has_word(device.cpu_features, "avx512f");
  return takes ? cpu_features({}) : "";
}

bool takes_assembler(const std::string& features, const cache::Variant& variant) {
  return features.find(assembler_feature(variant)) != std::string::npos;  // none is a part of another's name
}

Result<Target> identify(cl_device_id id) {
  return exceptions_to_status([&] { return identify_device(id); });
}

Status preload(cl_platform_id platform) {
  return exceptions_to_status([&] { return preload_for(platform); });
}

}  // namespace clbake
