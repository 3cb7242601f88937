#include "record/record.hpp"

#include "down.hpp"
#include "record/guard.hpp"
#include "record/handles.hpp"
#include "record/kernels.hpp"
#include "record/programs.hpp"
#include "record/trial/trial.hpp"
#include "record/write/journal.hpp"
#include "record/write/json_text.hpp"
#include "settings.hpp"

#include <clbake/launch_kind.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace clbake::layer::record {
namespace {

// ---- Launches: their local sizes, and for some of them trials

constexpr int kMostAttempts = 3;  // at a trial of one kind

LaunchSizes sizes_of(cl_uint dimensions, const size_t* offset, const size_t* global, const size_t* local) {
  LaunchSizes sizes;
  sizes.has_local = local != nullptr;
  for (cl_uint d = 0; d < std::min(dimensions, 3U); ++d) {
    if (offset) sizes.offset[d] = offset[d];
    if (global) sizes.global[d] = global[d];
    if (local) sizes.local[d] = local[d];
  }
  return sizes;
}

// A trial to make at this launch, or null. Sets `state` to the kernel's.
SeenKernel::Attempts* begin(cl_kernel kernel, const LaunchSizes& sizes, KernelState& state) {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  const KernelState* known = state_of(kernel);
  if (!known) return nullptr;
  state.kernel = known->kernel;
  if (std::find(sizes.global, sizes.global + 3, 0) != sizes.global + 3) return nullptr;  // nothing runs
  SeenKernel::Attempts& attempts = known->kernel->trials[launch_kind(sizes.local_text(), sizes.global, sizes.offset)];
  if (attempts.has_trial || attempts.is_running || attempts.count == kMostAttempts) return nullptr;
  ++attempts.count;
  attempts.is_running = true;
  state = *known;
  return &attempts;
}

void launched(SeenKernel* kernel, const LaunchSizes& sizes) {
  if (!kernel) return;
  const std::lock_guard<std::mutex> lock(seen_mutex());
  const std::string size = sizes.local_text();
  if (kernel->sizes.insert(size).second) add_line(*kernel, "size", size);
}

cl_int CL_API_CALL enqueue_nd_range(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                    const size_t* global, const size_t* local, cl_uint waits, const cl_event* wait_list,
                                    cl_event* event) {
  if ((waits != 0) != (wait_list != nullptr)) {  // no call that a driver takes
    return down().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list, event);
  }
  const LaunchSizes sizes = sizes_of(dimensions, offset, global, local);
  SeenKernel* seen = nullptr;
  std::optional<TrialReads> reads;
  guarded([&] {
    KernelState state;
    SeenKernel::Attempts* attempts = begin(kernel, sizes, state);
    seen = state.kernel;
    if (attempts) reads.emplace(queue, kernel, state, *attempts, sizes, waits, wait_list);
  });
  if (reads) wait_list = reads->wait_list(waits);
  const cl_int error =
      down().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list, event);
  guarded([&] {
    if (error == CL_SUCCESS) launched(seen, sizes);
    if (reads) reads->end(error == CL_SUCCESS);
  });
  return error;
}

cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event* wait_list,
                                cl_event* event) {
  const size_t one = 1;  // as OpenCL defines it
  return enqueue_nd_range(queue, kernel, 1, nullptr, &one, &one, waits, wait_list, event);
}

void* CL_API_CALL extension(const char* name) {
  void* function = down().clGetExtensionFunctionAddress(name);
  void* own = function ? il_extension(name) : nullptr;
  return own ? own : function;
}

void* CL_API_CALL extension_for_platform(cl_platform_id platform, const char* name) {
  void* function = down().clGetExtensionFunctionAddressForPlatform(platform, name);
  void* own = function ? il_extension(name) : nullptr;
  return own ? own : function;
}

}  // namespace

void install(cl_icd_dispatch& table) {
  open_journal(settings().record);
  install_programs(table);
  install_kernels(table);
  install_handles(table);
  replace(table.clEnqueueNDRangeKernel, enqueue_nd_range);
  replace(table.clEnqueueTask, enqueue_task);
  replace(table.clGetExtensionFunctionAddress, extension);
  replace(table.clGetExtensionFunctionAddressForPlatform, extension_for_platform);
  static_cast<void>(std::atexit(await_trials));
}

}  // namespace clbake::layer::record
