// Products in command buffers (cl_khr_command_buffer), and their changes (cl_khr_command_buffer_mutable_dispatch).
#include "launch/prepared_gemm.hpp"

#include <clbake/joined.hpp>

#include <algorithm>
#include <cstring>

namespace clbake {
namespace {

// The types of both extensions are in headers of late 2021 and after, some of them in another form: written here by the
// specification of 0.9.2 of the second.

using CommandKernel = cl_int(CL_API_CALL*)(_cl_command_buffer_khr*, cl_command_queue, const cl_ulong* properties,
                                           cl_kernel, cl_uint dimensions, const std::size_t* offset,
                                           const std::size_t* global, const std::size_t* local, cl_uint wait_count,
                                           const cl_uint* wait, cl_uint* point, void** handle);

struct ChangedArgument {  // cl_mutable_dispatch_arg_khr
  cl_uint index;
  std::size_t size;
  const void* value;
};

struct ChangedArguments : ArgumentList {
  std::vector<ChangedArgument> values, pointers;
  void add(cl_uint index, std::size_t size, const void* value) override { values.push_back({index, size, value}); }
  void add_pointer(cl_uint index, const void* pointer) override {
    pointers.push_back({index, sizeof pointer, pointer});
  }
};

struct Change {  // cl_mutable_dispatch_config_khr
  void* command;
  cl_uint values_count;
  cl_uint pointers_count;
  cl_uint infos_count;
  cl_uint dimensions;
  const ChangedArgument* values;
  const ChangedArgument* pointers;
  const void* infos;
  const std::size_t* offset;
  const std::size_t* global;
  const std::size_t* local;
};
using UpdateCommands = cl_int(CL_API_CALL*)(_cl_command_buffer_khr*, cl_uint count, const cl_uint* kinds,
                                            const void** changes);

// CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR: CL_MUTABLE_DISPATCH_ARGUMENTS_KHR.
constexpr cl_ulong kUpdatable[] = {0x12B1, 8, 0};

// That commands of the device change as written here: before 0.9.2, clUpdateMutableCommandsKHR took other arguments.
Status check_mutable(const cl::Device& device) {
  constexpr const char* wanted = "cl_khr_command_buffer_mutable_dispatch";
  constexpr cl_device_info extensions = 0x1060;  // CL_DEVICE_EXTENSIONS_WITH_VERSION, of OpenCL 3.0
  struct NameVersion {                           // cl_name_version
    cl_uint version;
    char name[64];
  };
  std::size_t bytes = 0;
  std::vector<NameVersion> all;
  cl_int error = clGetDeviceInfo(device(), extensions, 0, nullptr, &bytes);
  all.resize(error == CL_SUCCESS ? bytes / sizeof(NameVersion) : 0);
  if (!all.empty()) error = clGetDeviceInfo(device(), extensions, bytes, all.data(), nullptr);
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const NameVersion& x) { return std::strncmp(x.name, wanted, sizeof x.name) == 0; });
  if (error != CL_SUCCESS || found == all.end()) return {Code::opencl, joined({"the device lacks ", wanted})};
  if (found->version >= (9U << 12 | 2)) return {};
  return {Code::opencl, joined({"the device has ", wanted, " before 0.9.2"})};
}

}  // namespace

// Launches of one product follow each other, whatever the order of the command buffer's queue.
Status PreparedGemm::record(_cl_command_buffer_khr* commands, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                            const EpilogueBuffers& more, const std::vector<cl_uint>& wait, cl_uint* point,
                            std::shared_ptr<RecordedCommands>* recorded) {
  const auto command_kernel =
      reinterpret_cast<CommandKernel>(extension_function(parts_->device, "clCommandNDRangeKernelKHR"));
  if (!command_kernel) return {Code::opencl, "clCommandNDRangeKernelKHR: the platform lacks cl_khr_command_buffer"};
  if (!commands) return {Argument::queue, "the command buffer is null"};
  if (recorded) {
    if (Status can = check_mutable(parts_->device); !can) return can;
  }
  Call call = call_of(a, b, c, more);
  if (Status fits = check_recorded(scalars, call); !fits) return fits;
  const auto made = std::make_shared<RecordedCommands>();
  std::vector<cl_uint> after = wait;
  for (const Step& step : steps_of(scalars, call)) {
    if (!selects(step, scalars, call)) continue;
    RecordedCommands::Command& command = made->all.emplace_back();
    command.step = step;
    HeldArguments held;
    // A kernel of its own: those of PoCL's commands (3.1) lose their arguments when the kernel gets others.
    cl::Kernel kernel;
    if (Status created = create_kernel(step.kernel, kernel); !created) return created;
    cl_int error = set_arguments(kernel(), held, plan_, step, call, memory_of(call));
    if (error != CL_SUCCESS) return opencl_status("clSetKernelArg", error);
    const std::array<std::size_t, 3>& local = plan_.kernels[step.kernel].local;
    const std::size_t global[3] = {step.groups[0] * local[0], step.groups[1] * local[1], step.groups[2] * local[2]};
    cl_uint done = 0;
    error = command_kernel(commands, nullptr, recorded ? kUpdatable : nullptr, kernel(), 3, nullptr, global,
                           local.data(), static_cast<cl_uint>(after.size()), after.empty() ? nullptr : after.data(),
                           &done, recorded ? &command.handle : nullptr);
    if (error != CL_SUCCESS) return opencl_status("clCommandNDRangeKernelKHR", error);
    after = {done};
  }
  if (made->all.empty()) return {Code::invalid_argument, "nothing to record: the product has no launch"};
  if (point) *point = after.front();
  if (parts_->calls) parts_->calls->fetch_add(1, std::memory_order_relaxed);
  if (!recorded) return {};
  made->gemm = this;
  made->buffer = commands;
  *recorded = made;
  return {};
}

Status PreparedGemm::check_recorded(const ScalarList& scalars, Call& call) {
  Status status = check_scalars(scalars, call);
  if (status && !has_workspace()) status = {Argument::workspace, kNoWorkspace};
  return status ? checks_.check(parts_->context, parts_->device, call) : status;
}

Status PreparedGemm::update(const RecordedCommands& recorded, const ScalarList& scalars, Matrix a, Matrix b, Matrix c,
                            const EpilogueBuffers& more) {
  Call call = call_of(a, b, c, more);
  if (Status fits = check_recorded(scalars, call); !fits) return fits;
  std::vector<Step> steps = steps_of(scalars, call);
  steps.erase(std::remove_if(steps.begin(), steps.end(), [&](const Step& x) { return !selects(x, scalars, call); }),
              steps.end());
  const std::vector<RecordedCommands::Command>& all = recorded.all;
  const auto same = [](const RecordedCommands::Command& x, const Step& y) {
    return x.step.kernel == y.kernel && x.step.groups == y.groups;
  };
  if (!std::equal(all.begin(), all.end(), steps.begin(), steps.end(), same)) {
    return {Argument::scalars, "these scalars need other launches than those that were recorded"};
  }
  std::vector<HeldArguments> held(all.size());
  std::vector<ChangedArguments> arguments(all.size());
  std::vector<Change> changes(all.size());
  std::vector<const void*> list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    set_arguments(nullptr, held[i], plan_, steps[i], call, memory_of(call), &arguments[i]);
    changes[i].command = all[i].handle;
    changes[i].values_count = static_cast<cl_uint>(arguments[i].values.size());
    changes[i].values = arguments[i].values.data();
    changes[i].pointers_count = static_cast<cl_uint>(arguments[i].pointers.size());
    changes[i].pointers = arguments[i].pointers.empty() ? nullptr : arguments[i].pointers.data();
    list.push_back(&changes[i]);
  }
  const auto update_commands =
      reinterpret_cast<UpdateCommands>(extension_function(parts_->device, "clUpdateMutableCommandsKHR"));
  if (!update_commands) return {Code::opencl, "the platform lacks clUpdateMutableCommandsKHR"};
  const std::vector<cl_uint> kinds(all.size(), 0);  // CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR
  return opencl_status("clUpdateMutableCommandsKHR",
                       update_commands(recorded.buffer, static_cast<cl_uint>(list.size()), kinds.data(), list.data()));
}

}  // namespace clbake
