// Platform, devices and contexts.
#include "fake_opencl/objects.hpp"

#include <cstdlib>
#include <cstring>

using namespace fake;

namespace {

constexpr cl_ulong kMemory = cl_ulong{1} << 30;  // bytes of a device

int the_platform;  // its address is the handle
cl_platform_id platform() { return reinterpret_cast<cl_platform_id>(&the_platform); }

// The runtime treats some platforms differently.
const char* platform_name() {
  const char* name = std::getenv("FAKE_OPENCL_PLATFORM");
  return name ? name : "Fake Platform";
}

// The name of the CPU that the driver compiles for, as PoCL says it, or "unnamed"; null: its devices are no CPUs.
const char* cpu() { return std::getenv("FAKE_OPENCL_CPU"); }

std::string device_version() {
  if (!cpu()) return "OpenCL 1.2 Fake";
  const std::string name = cpu();
  return "OpenCL 1.2 PoCL HSTR: pthread-x86_64-pc-linux-gnu-" + (name == "unnamed" ? "" : name);
}

bool is_device(cl_device_id id) { return id == handle(&device(0)) || id == handle(&device(1)); }

}  // namespace

namespace fake {

Device& device(int index) {
  static Device devices[kDevices] = {{"Fake Alpha", 0}, {"Fake Beta", 1}};
  return devices[index];
}

void set_twins(bool twins) { device(1).name = twins ? device(0).name : "Fake Beta"; }

}  // namespace fake

cl_int clGetPlatformIDs(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  const Call call(Function::clGetPlatformIDs);
  if (call.error != CL_SUCCESS) return call.error;
  if (platforms && count == 0) return CL_INVALID_VALUE;
  if (platforms) platforms[0] = platform();
  if (found) *found = 1;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetPlatformInfo);
  if (call.error != CL_SUCCESS) return call.error;
  if (id != platform()) return CL_INVALID_PLATFORM;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_PLATFORM_NAME: return answer.text(platform_name());
    case CL_PLATFORM_VERSION: return answer.text("OpenCL 1.2 Fake");
    default: return CL_INVALID_VALUE;
  }
}

// As of a driver that loaders find; by default it is none.
void* clGetExtensionFunctionAddressForPlatform(cl_platform_id id, const char* function) {
  const bool wanted = id == platform() && std::strcmp(function, "clIcdGetPlatformIDsKHR") == 0;
  return wanted && std::getenv("FAKE_OPENCL_LOADABLE") ? reinterpret_cast<void*>(&clGetPlatformIDs) : nullptr;
}

cl_int clGetDeviceIDs(cl_platform_id id, cl_device_type /*type*/, cl_uint count, cl_device_id* devices,
                      cl_uint* found) {
  const Call call(Function::clGetDeviceIDs);
  if (call.error != CL_SUCCESS) return call.error;
  if (id != platform()) return CL_INVALID_PLATFORM;
  for (cl_uint i = 0; devices && i < count && i < kDevices; ++i) devices[i] = handle(&device(static_cast<int>(i)));
  if (found) *found = kDevices;
  return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetDeviceInfo);
  if (call.error != CL_SUCCESS) return call.error;
  if (!is_device(id)) return CL_INVALID_DEVICE;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_DEVICE_TYPE: return answer.number<cl_device_type>(cpu() ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_PLATFORM: return answer.number(platform());
    case CL_DEVICE_PARENT_DEVICE: return answer.number<cl_device_id>(nullptr);
    case CL_DEVICE_ADDRESS_BITS: return answer.number<cl_uint>(64);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return answer.number<cl_uint>(4);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return answer.number<std::size_t>(256);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return answer.number<cl_uint>(1024);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return answer.number<cl_ulong>(kMemory / 4);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT: return answer.number<std::size_t>(16384);
    // cl_nv_device_attribute_query: the compute capability, asked for on NVIDIA's platform only.
    case 0x4000: return answer.number<cl_uint>(9);
    case 0x4001: return answer.number<cl_uint>(0);
    case CL_DEVICE_NAME: return answer.text(object<Device>(id)->name);
    case CL_DEVICE_VENDOR: return answer.text("Nobody");
    case CL_DEVICE_VERSION: return answer.text(device_version());
    case CL_DRIVER_VERSION: return answer.text("1.0");
    default: return CL_INVALID_VALUE;
  }
}

FAKE_OPENCL_REFERENCES(Device, clRetainDevice, clReleaseDevice)

cl_context clCreateContext(const cl_context_properties* /*properties*/, cl_uint count, const cl_device_id* devices,
                           void(CL_CALLBACK* /*notify*/)(const char*, const void*, size_t, void*), void* /*data*/,
                           cl_int* error) {
  const Call call(Function::clCreateContext);
  cl_int result = call.error;
  if (result == CL_SUCCESS && (count == 0 || !devices)) result = CL_INVALID_VALUE;
  for (cl_uint i = 0; result == CL_SUCCESS && i < count; ++i) {
    if (!is_device(devices[i])) result = CL_INVALID_DEVICE;
  }
  return create(error, result, [&] {
    auto* context = new Context;
    context->devices.assign(devices, devices + count);
    return context;
  });
}

FAKE_OPENCL_REFERENCES(Context, clRetainContext, clReleaseContext)

cl_int clGetContextInfo(cl_context id, cl_context_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetContextInfo);
  const auto* context = object<Context>(id);
  if (const cl_int refused = call.refusal(context)) return refused;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT: return answer.number(static_cast<cl_uint>(context->references));
    case CL_CONTEXT_DEVICES:
      return answer.bytes(context->devices.data(), context->devices.size() * sizeof(cl_device_id));
    default: return CL_INVALID_VALUE;
  }
}
