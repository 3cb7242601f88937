// NVIDIA's driver library as an assembler. It is the assembler that the driver itself uses when it loads PTX, so its
// machine code suits this driver, and no CUDA toolkit has to be installed, neither to build clbake nor to bake.
#include "compile/nvidia/cubin.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <array>

namespace clbake::builder {
namespace {

// What is needed of the CUDA Driver API (https://docs.nvidia.com/cuda/cuda-driver-api), declared here, so that no
// toolkit has to be installed to build clbake. The names are those that cuda.h maps the documented calls to; the
// numbers are of CUresult, CUdevice_attribute, CUjit_option and CUjitInputType.
using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUlinkState = struct CUlinkState_st*;
constexpr CUresult kSuccess = 0;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogBufferSizeBytes = 6;
constexpr int kInputPtx = 1;

struct Api {
  CUresult (*init)(unsigned flags);
  CUresult (*driver_version)(int* version);
  CUresult (*error_name)(CUresult error, const char** name);
  CUresult (*device_count)(int* count);
  CUresult (*device)(CUdevice* device, int ordinal);
  CUresult (*attribute)(int* value, int attribute, CUdevice device);
  CUresult (*retain_primary)(CUcontext* context, CUdevice device);
  CUresult (*release_primary)(CUdevice device);
  CUresult (*push)(CUcontext context);
  CUresult (*pop)(CUcontext* context);
  CUresult (*link_create)(unsigned count, int* options, void** values, CUlinkState* state);
  CUresult (*link_add)(CUlinkState state, int type, void* data, std::size_t size, const char* name, unsigned count,
                       int* options, void** values);
  CUresult (*link_complete)(CUlinkState state, void** cubin, std::size_t* size);
  CUresult (*link_destroy)(CUlinkState state);
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Never closed: the driver keeps threads.
Result<Api> load_api() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return {Code::no_device, "NVIDIA's driver library libcuda.so.1 is not on this machine"};
  Api api = {};
  const bool complete =
      find(library, "cuInit", api.init) && find(library, "cuDriverGetVersion", api.driver_version) &&
      find(library, "cuGetErrorName", api.error_name) && find(library, "cuDeviceGetCount", api.device_count) &&
      find(library, "cuDeviceGet", api.device) && find(library, "cuDeviceGetAttribute", api.attribute) &&
      find(library, "cuDevicePrimaryCtxRetain", api.retain_primary) &&
      find(library, "cuDevicePrimaryCtxRelease_v2", api.release_primary) &&
      find(library, "cuCtxPushCurrent_v2", api.push) && find(library, "cuCtxPopCurrent_v2", api.pop) &&
      find(library, "cuLinkCreate_v2", api.link_create) && find(library, "cuLinkAddData_v2", api.link_add) &&
      find(library, "cuLinkComplete", api.link_complete) && find(library, "cuLinkDestroy", api.link_destroy);
  if (!complete) return {Code::no_device, "libcuda.so.1 lacks functions of the CUDA driver API (CUDA 11 has them)"};
  return api;
}

Status failure(const Api& api, Code code, const char* call, CUresult error) {
  const char* name = nullptr;
  const bool known = api.error_name(error, &name) == kSuccess && name;
  return {code, std::string(call) + ": " + (known ? name : "CUDA error " + std::to_string(error))};
}

Result<CUdevice> find_device(const Api& api, int capability) {
  const CUresult error = api.init(0);
  if (error != kSuccess) return failure(api, Code::no_device, "cuInit", error);
  int count = 0;
  if (api.device_count(&count) != kSuccess) count = 0;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    int major = 0;
    int minor = 0;
    const bool answered = api.device(&device, i) == kSuccess &&
                          api.attribute(&major, kComputeCapabilityMajor, device) == kSuccess &&
                          api.attribute(&minor, kComputeCapabilityMinor, device) == kSuccess;
    if (answered && 10 * major + minor == capability) return device;
  }
  return {Code::no_device, "NVIDIA's driver has no device of architecture sm_" + std::to_string(capability)};
}

// The device's primary context, current on this thread.
class Context {
 public:
  Context(const Api& api, CUdevice device) : api_(api), device_(device) {
    error_ = api_.retain_primary(&context_, device_);
    if (error_ != kSuccess) return;
    error_ = api_.push(context_);
    if (error_ != kSuccess) api_.release_primary(device_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (error_ != kSuccess) return;
    api_.pop(&context_);
    api_.release_primary(device_);
  }
  CUresult error() const { return error_; }

 private:
  const Api& api_;
  CUdevice device_;
  CUcontext context_ = nullptr;
  CUresult error_ = kSuccess;
};

// A link into one cubin, and the log of what is wrong with its input.
class Link {
 public:
  explicit Link(const Api& api) : api_(api) {
    int options[] = {kErrorLogBuffer, kErrorLogBufferSizeBytes};
    // The API takes numbers in the place of pointers. The last byte stays zero.
    void* log_bytes = reinterpret_cast<void*>(log_.size() - 1);  // NOLINT(performance-no-int-to-ptr)
    void* values[] = {log_.data(), log_bytes};
    error_ = api_.link_create(2, options, values, &state_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    if (state_) api_.link_destroy(state_);
  }

  Result<cache::Bytes> run(const std::string& ptx) {
    if (error_ != kSuccess) return failure(api_, Code::no_device, "cuLinkCreate", error_);
    std::string text = ptx.c_str();  // the driver's own programs end in a zero, and this call wants one
    error_ = api_.link_add(state_, kInputPtx, text.data(), text.size() + 1, "clbake", 0, nullptr, nullptr);
    if (error_ != kSuccess) return refused("cuLinkAddData");
    void* cubin = nullptr;  // belongs to the link
    std::size_t size = 0;
    error_ = api_.link_complete(state_, &cubin, &size);
    if (error_ != kSuccess) return refused("cuLinkComplete");
    const auto* begin = static_cast<const std::uint8_t*>(cubin);
    return cache::Bytes(begin, begin + (cubin ? size : 0));
  }

 private:
  Status refused(const char* call) const {
    const std::string log = log_.data();
    const Status cause = failure(api_, Code::build_failed, call, error_);
    return log.empty() ? cause : Status(Code::build_failed, cause.message() + ": " + log.substr(0, log.find('\n')));
  }

  const Api& api_;
  CUlinkState state_ = nullptr;
  CUresult error_ = kSuccess;
  std::array<char, 4096> log_ = {};
};

std::string version_of(const Api& api) {
  int version = 0;  // 1000 * major + 10 * minor
  if (api.driver_version(&version) != kSuccess) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Result<Cubin> link_with_libcuda(const std::string& ptx, int capability) {
  static const Result<Api> api = load_api();
  if (!api) return api.status();
  const Result<CUdevice> device = find_device(*api, capability);
  if (!device) return device.status();
  const Context context(*api, *device);
  if (context.error() != kSuccess) return failure(*api, Code::no_device, "cuDevicePrimaryCtxRetain", context.error());
  Result<cache::Bytes> bytes = Link(*api).run(ptx);
  if (!bytes) return bytes.status();
  return Cubin{std::move(*bytes), {"libcuda", version_of(*api)}};
}

}  // namespace clbake::builder
