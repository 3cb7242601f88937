#include <clbake/builder/devices.hpp>
#include <clbake/builder/platforms.hpp>
#include <clbake/compute_capability.hpp>

#include "device/opencl_library.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <cctype>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder {
using namespace process;
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

// PoCL says 4 on AArch64, where there is NEON; no CPU with a driver has less than 16.
std::uint32_t vector_bytes_of(const cl::Device& device, kernels::DeviceType type) {
  const std::uint32_t bytes = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>() * 4;
  return type == kernels::DeviceType::cpu ? std::max(16U, bytes) : bytes;
}

// 1, PTX of some version, for a device of NVIDIA whose driver does not report the architecture; 0 for other vendors.
std::uint32_t ptx_of(const Target& target) {
  if (platform_of(target).architecture != Architecture::compute_capability) return 0;
  return std::max(1U, static_cast<std::uint32_t>(compute_capability(target.architecture)));
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool matches(const Device& device, std::size_t index, const std::string& spec) {
  if (spec.size() == 16 && spec == identity(device.target)) return true;  // which may be all digits
  if (is_number(spec)) return spec == std::to_string(index);
  return is_named(device.target, spec);
}

// "0 = NVIDIA CUDA: NVIDIA H200, 1 = ...", the devices of `all` that SPEC selects.
std::string listing(const std::vector<Device>& all, const std::string& spec) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!matches(all[i], i, spec)) continue;
    const Target& target = all[i].target;
    text += (text.empty() ? "" : ", ") + std::to_string(i) + " = " + target.platform_name + ": " + target.device_name;
  }
  return text;
}

Status no_device(bool no_platform) {
  std::string unloadable;
  for (const std::string& driver : unloadable_drivers()) {
    unloadable += (unloadable.empty() ? "" : "; ") + ("cannot load the OpenCL driver " + driver);
  }
  if (!unloadable.empty()) return {Code::no_device, unloadable};
  if (!no_platform) return {Code::no_device, "no OpenCL platform of this machine has a device with a compiler"};
  return {Code::no_device,
          "no OpenCL platform: no driver is installed, or none found its device (for CPUs: Debian's pocl-opencl-icd)"};
}

}  // namespace

bool is_named(const Target& target, const std::string& part) {
  const char* const alias = builder_platform_of(target).alias;
  return lower(target.platform_name + '\n' + alias + '\n' + target.device_name).find(lower(part)) != std::string::npos;
}

std::string identity(const Target& t) {
  std::vector<std::string> fields = {std::to_string(t.address_bits)};
  for (const auto& [name, text] : cache::kTargetTexts) fields.push_back(t.*text);
  return digest(fields);
}

std::string violation(const kernels::Params& params, const Device& device) {
  const std::vector<kernels::Violation> violations = kernels::check(params, device.limits);
  return violations.empty() ? "" : std::string(violations[0].constraint) + ": " + violations[0].reason;
}

Result<std::vector<Device>> list_devices() {
  if (const Status opened = open_opencl(); !opened) return Status(Code::no_device, opened.message());
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
      if (const std::uint32_t ptx = ptx_of(d.target)) kernels::set_nvidia_limits(d.limits, ptx);
      const std::string assembler = assembler_features(d.target);
      d.limits.byte_dots = assembler.find("avx512vnni") != std::string::npos;
      d.limits.bfloat16_dots = assembler.find("avx512bf16") != std::string::npos;
      d.vector_bytes = vector_bytes_of(device, d.type);
      d.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
      found.push_back(std::move(d));
    }
  }
  return found.empty() ? no_device(platforms.empty()) : Result<std::vector<Device>>(std::move(found));
}

Result<std::vector<Device>> select_devices(const std::vector<Device>& all, const std::string& spec) {
  if (spec.empty()) return all;
  std::vector<Device> selected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (matches(all[i], i, spec)) selected.push_back(all[i]);
  }
  if (!selected.empty()) return selected;
  return {Code::no_device, "no device matches '" + spec + "'; the devices are: " + listing(all, "")};
}

Result<std::vector<Device>> select_one_target(const std::vector<Device>& all, const std::string& spec) {
  Result<std::vector<Device>> selected = select_devices(all, spec);
  if (!selected) return selected;
  const Target first = selected->front().target;
  const auto differs = [&](const Device& device) { return !(device.target == first); };
  const auto others = std::remove_if(selected->begin(), selected->end(), differs);
  if (others != selected->end() && !spec.empty()) {
    return {Code::invalid_argument,
            "'" + spec + "' matches different devices: " + listing(all, spec) + "; give an index or more of the name"};
  }
  selected->erase(others, selected->end());
  return selected;
}

Result<Device> device_of(const Target& target, std::size_t unit) {
  Result<std::vector<Device>> devices = list_devices();
  if (!devices) return devices.status();
  for (Device& device : *devices) {
    if (device.target == target && unit-- == 0) return device;
  }
  return {Code::no_device, "this machine lacks the job's device: " + target.device_name};
}

struct Session::State {
  cl::Context context;
  cl::CommandQueue queue;
  bool finish_waits = true;
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
  state->finish_waits = builder_platform_of(device.target).finish_waits;
  Session session;
  session.state_ = std::move(state);
  return session;
}

cl_context Session::context() const { return state_->context(); }
cl_command_queue Session::queue() const { return state_->queue(); }
bool Session::finish_waits() const { return state_->finish_waits; }

}  // namespace clbake::builder
