#include "compile/offline/offline_tools.hpp"

#include <clbake/builder/devices.hpp>

#include <algorithm>
#include <cctype>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool usable(const cl::Device& device) {
  return device.getInfo<CL_DEVICE_AVAILABLE>() == CL_TRUE && device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() == CL_TRUE;
}

kernels::DeviceLimits limits_of(const cl::Device& device) {
  kernels::DeviceLimits limits;
  limits.fp64 = device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0;
  limits.max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  const std::vector<std::size_t> sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  for (std::size_t i = 0; i < 3 && i < sizes.size(); ++i) limits.max_work_item_sizes[i] = sizes[i];
  limits.local_memory_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  limits.images = device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() == CL_TRUE;
  return limits;
}

// Of a device of NVIDIA whose architecture the driver does not tell, that it takes PTX is all that is known.
std::uint32_t ptx_of(const Target& target) {
  if (target.platform_name.find("NVIDIA") == std::string::npos) return 0;
  return std::max(1U, static_cast<std::uint32_t>(generation(target.architecture)));
}

std::string known_devices(const std::vector<Device>& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(i) + " = " + devices[i].target.platform_name + ": " +
            devices[i].target.device_name;
  }
  return text;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool matches(const Device& device, std::size_t index, const std::string& spec) {
  if (is_number(spec)) return spec == std::to_string(index);
  const std::string part = lower(spec);
  return lower(device.target.platform_name).find(part) != std::string::npos ||
         lower(device.target.device_name).find(part) != std::string::npos;
}

}  // namespace

Result<std::vector<Device>> list_devices() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<Device> found;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const cl::Device& device : devices) {
      if (!usable(device)) continue;
      Result<Target> target = identify(device());
      if (!target) return target.status();
      Device d;
      d.platform = platform();
      d.id = device();
      d.target = std::move(*target);
      d.type =
          (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) ? kernels::DeviceType::cpu : kernels::DeviceType::gpu;
      d.limits = limits_of(device);
      d.limits.ptx = ptx_of(d.target);
      d.vector_bytes = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>() * 4;
      d.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
      found.push_back(std::move(d));
    }
  }
  if (platforms.empty()) return {Code::no_device, "no OpenCL platform is installed (for CPUs: pocl-opencl-icd)"};
  if (found.empty()) return {Code::no_device, "no OpenCL platform of this machine has a device with a compiler"};
  return found;
}

Result<std::vector<Device>> select_devices(const std::vector<Device>& all, const std::string& spec) {
  if (spec.empty()) return all;
  std::vector<Device> selected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (matches(all[i], i, spec)) selected.push_back(all[i]);
  }
  if (!selected.empty()) return selected;
  return {Code::no_device, "no device matches '" + spec + "'; there are: " + known_devices(all)};
}

Result<Device> device_of(const Target& target) {
  Result<std::vector<Device>> devices = list_devices();
  if (!devices) return devices.status();
  for (Device& device : *devices) {
    if (device.target == target) return device;
  }
  return {Code::no_device, "the job's device is not in this machine: " + target.device_name};
}

struct Session::State {
  cl::Context context;
  cl::CommandQueue queue;
};

Result<Session> Session::open(const Device& device) {
  auto state = std::make_shared<State>();
  cl_int error = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(device.platform), 0};
  state->context = cl::Context(clCreateContext(properties, 1, &device.id, nullptr, nullptr, &error));
  if (error != CL_SUCCESS) {
    return {Code::opencl, "clCreateContext on " + device.target.device_name + ": error " + std::to_string(error)};
  }
  state->queue = cl::CommandQueue(state->context, cl::Device(device.id, true), cl::QueueProperties::None, &error);
  if (error != CL_SUCCESS) {
    return {Code::opencl, "clCreateCommandQueue on " + device.target.device_name + ": error " + std::to_string(error)};
  }
  Session session;
  session.state_ = std::move(state);
  return session;
}

cl_context Session::context() const { return state_->context(); }
cl_command_queue Session::queue() const { return state_->queue(); }

}  // namespace clbake::builder
