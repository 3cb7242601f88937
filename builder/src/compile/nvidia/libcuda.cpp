// NVIDIA's driver library as an assembler. It is the assembler that the driver itself uses when it loads PTX, so its
// machine code suits this driver, and no CUDA toolkit has to be installed, neither to build clbake nor to bake.
#include "compile/nvidia/cubin.hpp"

#include <clbake/os/libraries.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace clbake::builder::compile {
namespace {

// The needed part of the CUDA Driver API (https://docs.nvidia.com/cuda/cuda-driver-api), declared here, so that no
// toolkit has to be installed to build clbake. The names are those that cuda.h maps the documented calls to; the
// numbers are of CUresult, CUdevice_attribute, CUfunction_attribute, CUjit_option and CUjitInputType.
using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUlinkState = struct CUlinkState_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
constexpr CUresult kSuccess = 0;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kRegistersOfMultiprocessor = 82;
constexpr int kRegistersOfFunction = 4;
constexpr int kLocalBytesOfFunction = 3;
constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogBufferSizeBytes = 6;
constexpr int kTarget = 9;
constexpr int kInputPtx = 1;
constexpr int kAccelerated = 0x10000;  // added to a target with the suffix "a"

// The part of a kernel's registers of which a bound may deprive it. Where bounds took more, kernels got slower
// (kernels/MEASUREMENTS.md).
constexpr double kMostTaken = 0.18;

struct Api {
  CUresult (*init)(unsigned flags);
  CUresult (*driver_version)(int* version);
  CUresult (*error_name)(CUresult error, const char** name);
  CUresult (*device_count)(int* count);
  CUresult (*device)(CUdevice* device, int ordinal);
  CUresult (*attribute)(int* value, int attribute, CUdevice device);
  CUresult (*retain_primary)(CUcontext* context, CUdevice device);
  CUresult (*set_current)(CUcontext context);
  CUresult (*link_create)(unsigned count, int* options, void** values, CUlinkState* state);
  CUresult (*link_add)(CUlinkState state, int type, void* data, std::size_t size, const char* name, unsigned count,
                       int* options, void** values);
  CUresult (*link_complete)(CUlinkState state, void** cubin, std::size_t* size);
  CUresult (*link_destroy)(CUlinkState state);
  CUresult (*module_load)(CUmodule* module, const void* image);
  CUresult (*module_function)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*module_unload)(CUmodule module);
  CUresult (*function_attribute)(int* value, int attribute, CUfunction function);
  CUresult (*occupancy)(int* blocks, CUfunction function, int block_size, std::size_t dynamic_bytes);
};

template <typename Function>
bool find(os::LibraryHandle library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(os::symbol(library, name));
  return function != nullptr;
}

// Never closed: the driver keeps threads.
Result<Api> load_api() {
  const std::string name = os::by_system("libcuda.so.1", "nvcuda.dll");
  const Result<os::LibraryHandle> opened = os::open_library(name);
  if (!opened) return {Code::no_device, "NVIDIA's driver library " + name + " is not on this machine"};
  os::LibraryHandle const library = *opened;
  Api api = {};
  const bool complete =
      find(library, "cuInit", api.init) && find(library, "cuDriverGetVersion", api.driver_version) &&
      find(library, "cuGetErrorName", api.error_name) && find(library, "cuDeviceGetCount", api.device_count) &&
      find(library, "cuDeviceGet", api.device) && find(library, "cuDeviceGetAttribute", api.attribute) &&
      find(library, "cuDevicePrimaryCtxRetain", api.retain_primary) &&
      find(library, "cuCtxSetCurrent", api.set_current) && find(library, "cuLinkCreate_v2", api.link_create) &&
      find(library, "cuLinkAddData_v2", api.link_add) && find(library, "cuLinkComplete", api.link_complete) &&
      find(library, "cuLinkDestroy", api.link_destroy) && find(library, "cuModuleLoadData", api.module_load) &&
      find(library, "cuModuleUnload", api.module_unload) && find(library, "cuModuleGetFunction", api.module_function) &&
      find(library, "cuFuncGetAttribute", api.function_attribute) &&
      find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", api.occupancy);
  if (!complete) return {Code::no_device, name + " lacks functions of the CUDA driver API (CUDA 11 has them)"};
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

// Makes the device's primary context current on this thread. The process keeps it: making one takes long, and processes
// wait for each other meanwhile. A tuning on an H200 tried 1.6 variants a second when each link made one, and 4.5
// since.
Status take_context(const Api& api, CUdevice device) {
  CUcontext context = nullptr;
  CUresult error = api.retain_primary(&context, device);
  if (error == kSuccess) error = api.set_current(context);
  return error == kSuccess ? Status() : failure(api, Code::no_device, "cuDevicePrimaryCtxRetain", error);
}

// A link into one cubin, and the log of what is wrong with its input.
class Link {
 public:
  // `target`: a CUjit_target, which is a capability with or without a suffix.
  Link(const Api& api, int target) : api_(api) {
    int options[] = {kErrorLogBuffer, kErrorLogBufferSizeBytes, kTarget};
    // The API takes numbers in the place of pointers. The last byte stays zero.
    void* log_bytes = reinterpret_cast<void*>(log_.size() - 1);     // NOLINT(performance-no-int-to-ptr)
    void* number = reinterpret_cast<void*>(std::intptr_t{target});  // NOLINT(performance-no-int-to-ptr)
    void* values[] = {log_.data(), log_bytes, number};
    error_ = api_.link_create(3, options, values, &state_);
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

// The resources that a kernel of a cubin needs, and how many of its work-groups a multiprocessor runs at the same time
// for that.
struct Usage {
  int registers = 0;  // of a work-item
  int spilled = 0;    // bytes of a work-item
  int resident = 0;
};

// Empty where the driver does not say.
std::vector<Usage> usages_of(const Api& api, const cache::Bytes& cubin, const std::vector<PtxKernel>& kernels) {
  CUmodule module = nullptr;
  if (cubin.empty() || api.module_load(&module, cubin.data()) != kSuccess) return {};
  std::vector<Usage> usages(kernels.size());
  bool known = true;
  for (std::size_t i = 0; i < kernels.size() && known; ++i) {
    const int threads = static_cast<int>(std::max(kernels[i].threads, 1U));
    CUfunction function = nullptr;
    known = api.module_function(&function, module, kernels[i].name.c_str()) == kSuccess &&
            api.function_attribute(&usages[i].registers, kRegistersOfFunction, function) == kSuccess &&
            api.function_attribute(&usages[i].spilled, kLocalBytesOfFunction, function) == kSuccess &&
            api.occupancy(&usages[i].resident, function, threads, 0) == kSuccess;
  }
  api.module_unload(module);
  return known ? usages : std::vector<Usage>();
}

// The PTX with a bound on the registers of those kernels that, with fewer, would leave room for one more
// work-group on a multiprocessor. `ptx` itself where there is none.
std::string bounded(std::string ptx, const std::vector<PtxKernel>& kernels, const std::vector<Usage>& usages,
                    int registers_of_multiprocessor) {
  constexpr int kUnit = 8;  // registers of a work-item that are given out at once, from capability 3.0 on
  for (std::size_t i = kernels.size(); i-- > 0;) {  // from the end, so that the positions stay right
    if (kernels[i].threads == 0) continue;
    const int work_items = (usages[i].resident + 1) * static_cast<int>(kernels[i].threads);
    const int bound = registers_of_multiprocessor / work_items / kUnit * kUnit;
    const int taken = usages[i].registers - bound;
    const bool is_near = taken > 0 && taken <= kMostTaken * usages[i].registers;
    if (is_near) ptx.insert(kernels[i].body, ".maxnreg " + std::to_string(bound) + "\n");
  }
  return ptx;
}

// True when a kernel gained a resident work-group, and none lost one or spills more.
bool is_better(const std::vector<Usage>& usages, const std::vector<Usage>& before) {
  if (usages.size() != before.size()) return false;
  bool gains = false;
  for (std::size_t i = 0; i < usages.size(); ++i) {
    if (usages[i].resident < before[i].resident || usages[i].spilled > before[i].spilled) return false;
    gains = gains || usages[i].resident > before[i].resident;
  }
  return gains;
}

// cuLink assembles for a later link, and its code needs up to 14 registers more than that of the same assembler for a
// whole program, which the driver uses when it loads PTX (measured: 182 and 168, 172 and 168). Where that costs a
// resident work-group, single precision on an H200 loses a quarter of its speed between powers of two. So it does where
// a whole program would need as many: bounds that take 36 of 204 pay, too.
cache::Bytes with_more_resident(const Api& api, CUdevice device, int target, const std::string& ptx,
                                cache::Bytes cubin) {
  const std::vector<PtxKernel> kernels = kernels_of(ptx);
  int registers = 0;
  const bool known = api.attribute(&registers, kRegistersOfMultiprocessor, device) == kSuccess;
  const std::vector<Usage> usages = known ? usages_of(api, cubin, kernels) : std::vector<Usage>();
  if (usages.empty()) return cubin;
  const std::string less = bounded(ptx, kernels, usages, registers);
  if (less == ptx) return cubin;
  Result<cache::Bytes> again = Link(api, target).run(less);
  return again && is_better(usages_of(api, *again, kernels), usages) ? std::move(*again) : cubin;
}

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
  const Status context = take_context(*api, *device);
  if (!context) return context;
  const int target = is_linked_for_one_architecture(ptx, capability) ? capability + kAccelerated : capability;
  Result<cache::Bytes> bytes = Link(*api, target).run(ptx);
  if (!bytes) return bytes.status();
  return Cubin{with_more_resident(*api, *device, target, ptx, std::move(*bytes)), {"libcuda", version_of(*api)}};
}

}  // namespace clbake::builder::compile
