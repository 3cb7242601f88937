// clBuildProgram: a baked program is loaded for what the application builds, or the driver builds it.
#include "down.hpp"
#include "questions.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"
#include "serve/load.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace clbake::layer::serve {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

// One call of clBuildProgram by the application.
struct Request {
  std::shared_ptr<Program> program;
  std::vector<cl_device_id> devices;
  bool all_devices = false;  // none were named
  ProgramText text;          // with the options
  bool has_options = false;
  Notify notify = nullptr;  // may be null
  void* data = nullptr;
  Result<ContentDigest> digest;  // of the text
};

// Builds for devices that the request does not name.
std::vector<DeviceBuild> others(const Baked& earlier, const Request& request) {
  std::vector<DeviceBuild> builds;
  for (const DeviceBuild& build : earlier.builds) {
    if (!has(request.devices, build.device)) builds.push_back(build);
  }
  return builds;
}

// All that the program has to be built for: the request, and what earlier ones asked for other devices. Nothing where
// the driver has built a part of that.
std::optional<std::vector<DeviceBuild>> wanted_builds(const Request& request) {
  std::vector<DeviceBuild> builds = builds_for(request.devices, request.text.options, request.digest);
  const std::lock_guard<std::mutex> lock(request.program->mutex);
  for (const DeviceBuild& build : request.program->built_by_driver) {
    if (!has(request.devices, build.device)) return std::nullopt;
  }
  if (!request.program->baked) return builds;
  for (DeviceBuild& build : others(*request.program->baked, request)) builds.push_back(std::move(build));
  return builds;
}

// Devices without repetition, all of them the context's, or parts of those: PoCL answers the parents of sub-devices.
bool are_devices_of(cl_context context, const std::vector<cl_device_id>& devices) {
  std::vector<cl_device_id> all = devices_of(context);
  for (cl_device_id& device : all) device = root_of(device);
  const std::set<cl_device_id> different(devices.begin(), devices.end());
  return !devices.empty() && different.size() == devices.size() &&
         std::all_of(devices.begin(), devices.end(), [&](cl_device_id device) { return has(all, root_of(device)); });
}

// Notes what the driver has built, or builds with a callback.
void note_build(const Request& request) {
  Program& program = *request.program;
  std::vector<DeviceBuild> builds = builds_for(request.devices, request.text.options, request.digest);
  const std::lock_guard<std::mutex> lock(program.mutex);
  for (DeviceBuild& build : program.built_by_driver) {
    if (!has(request.devices, build.device)) builds.push_back(std::move(build));
  }
  program.built_by_driver = std::move(builds);
  program.launched.clear();
}

void log_miss(const Request& request, const Status& why) { serve::log_miss(request.text, request.digest, why); }

// The driver builds the application's program, as without the layer; also for devices for which a bundle served it.
cl_int build_by_driver(const Request& request) {
  Program& program = *request.program;
  std::shared_ptr<const Baked> earlier;  // destroyed after the locks
  {
    const std::lock_guard<std::mutex> source(program.source_mutex);
    const std::lock_guard<std::mutex> lock(program.mutex);
    std::swap(program.baked, earlier);
    program.compilation.reset();
    program.source = nullptr;
  }
  if (request.notify) note_build(request);  // before the application hears of it
  if (earlier) static_cast<void>(build_source(program.handle, others(*earlier, request)));
  const cl_int error =
      down().clBuildProgram(program.handle, request.all_devices ? 0 : static_cast<cl_uint>(request.devices.size()),
                            request.all_devices ? nullptr : request.devices.data(),
                            request.has_options ? request.text.options.c_str() : nullptr, request.notify, request.data);
  if (error != CL_SUCCESS || request.notify) return error;
  note_build(request);
  learn_program(program);
  return error;
}

void serve_from(Program& program, std::shared_ptr<const Baked> baked) {
  std::shared_ptr<const Baked> earlier;  // destroyed after the locks
  const std::lock_guard<std::mutex> source(program.source_mutex);
  const std::lock_guard<std::mutex> lock(program.mutex);
  earlier = std::exchange(program.baked, std::move(baked));
  program.compilation.reset();
  program.source = nullptr;
  program.built_by_driver.clear();
  program.launched.clear();
}

// A build of a baked program that the driver has not reported yet. The application's program lives as long, and is
// known as long, as the application may use it in its callback.
class Pending {
 public:
  Pending(Request request, Loaded loaded) : request_(std::move(request)), loaded_(std::move(loaded)) {
    down().clRetainProgram(request_.program->handle);
    registry().retain(request_.program->handle);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  // The application's reference goes last: an application that counts references waits for that.
  ~Pending() {
    const cl_program handle = request_.program->handle;
    loaded_.baked.reset();
    request_.program.reset();
    registry().release(handle);
    down().clReleaseProgram(handle);
  }

  bool is_done() const { return is_built(*loaded_.baked); }
  void finish() {
    static_cast<void>(no_throw([&] { return log_served(request_.text, request_.digest, loaded_), CL_SUCCESS; }));
    request_.notify(request_.program->handle, request_.data);
  }

  // The driver has failed with the error, or without one.
  cl_int compile(cl_int error) noexcept {
    return no_throw([&] {
      log_miss(request_, rejected(loaded_, error));
      return build_by_driver(request_);
    });
  }

 private:
  Request request_;
  Loaded loaded_;
};

// Builds that the driver has to report, by the numbers that it gets. Whoever comes first takes one out: the driver's
// report, or its failure, after which it may or may not report.
class PendingBuilds {
 public:
  void* add(std::shared_ptr<Pending> pending) {
    const std::lock_guard<std::mutex> lock(mutex_);
    builds_.emplace(++last_, std::move(pending));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number that nobody follows
    return reinterpret_cast<void*>(last_);
  }

  std::shared_ptr<Pending> take(void* number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = builds_.extract(reinterpret_cast<std::uintptr_t>(number));
    return found ? std::move(found.mapped()) : nullptr;
  }

 private:
  std::mutex mutex_;
  std::uintptr_t last_ = 0;
  std::map<std::uintptr_t, std::shared_ptr<Pending>> builds_;
};

PendingBuilds& pending_builds() {
  static auto& builds = *new PendingBuilds;
  return builds;
}

// OpenCL allows no build that blocks in a callback, so that a thread builds what the driver has rejected.
void CL_CALLBACK report(cl_program /*baked*/, void* number) {
  const std::shared_ptr<Pending> pending = pending_builds().take(number);
  if (!pending) return;
  if (pending->is_done()) return pending->finish();
  const auto compile = [pending] { static_cast<void>(pending->compile(CL_BUILD_PROGRAM_FAILURE)); };
  const cl_int started = no_throw([&] { return std::thread(compile).detach(), CL_SUCCESS; });
  if (started != CL_SUCCESS) compile();
}

// Builds the baked program in the driver's own way: it may report now, later, or in another thread.
cl_int build_with_callback(Request request, Loaded loaded) {
  const std::shared_ptr<const Baked> baked = loaded.baked;
  serve_from(*request.program, baked);
  const auto pending = std::make_shared<Pending>(std::move(request), std::move(loaded));
  void* const number = pending_builds().add(pending);
  const cl_int error = build(*baked, report, number);
  return error != CL_SUCCESS && pending_builds().take(number) ? pending->compile(error) : CL_SUCCESS;
}

cl_int serve_or_build(Request request) {
  Program& program = *request.program;
  std::optional<std::vector<DeviceBuild>> builds = wanted_builds(request);
  if (!builds) {
    log_miss(request, {Code::not_found, "the driver has built it for another device"});
    return build_by_driver(request);
  }
  Result<Loaded> loaded = request.digest ? load_baked(program.context, std::move(*builds)) : request.digest.status();
  if (loaded && request.notify) return build_with_callback(std::move(request), std::move(*loaded));
  const Status status = loaded ? build_baked(*loaded) : loaded.status();
  if (!status) {
    log_miss(request, status);
    return build_by_driver(request);
  }
  serve_from(program, loaded->baked);
  log_served(request.text, request.digest, *loaded);
  return CL_SUCCESS;
}

}  // namespace

cl_int calls::BuildProgram(cl_program handle, cl_uint count, const cl_device_id* devices, const char* options,
                           Notify notify, void* data) {
  return no_throw([&] {
    const std::shared_ptr<Program> program = registry().find(handle);
    const auto as_without_layer = [&] { return down().clBuildProgram(handle, count, devices, options, notify, data); };
    const bool valid = program && (count == 0) == (devices == nullptr) && (notify || !data);
    if (!valid || !program->text.parts.empty()) return as_without_layer();
    const std::vector<cl_device_id> on =
        devices ? std::vector<cl_device_id>(devices, devices + count) : devices_of(program->context);
    ProgramText text = program->text;
    text.options = options ? options : "";
    const Result<ContentDigest> digest = digest_of(text);
    Request request{program, on, !devices, std::move(text), options != nullptr, notify, data, digest};
    if (!are_devices_of(program->context, request.devices)) {
      log_miss(request, {Code::invalid_argument, "its devices are not those of its context, or one is there twice"});
      return as_without_layer();
    }
    const Registry::Counts counts = registry().counts(*program);
    const bool has_own_kernels = counts.kernels > counts.holds;
    if (program->specialized() || has_own_kernels) {
      log_miss(request, {Code::not_found, has_own_kernels ? "it has kernels" : "it has specialization constants"});
      return build_by_driver(request);
    }
    const std::shared_ptr<const Baked> baked = program->served();
    // The driver's answer to another build of a program that has kernels: CL_INVALID_OPERATION on most.
    const cl_int answer = counts.kernels > 0 && baked ? build(*baked) : CL_SUCCESS;
    return answer == CL_SUCCESS ? serve_or_build(std::move(request)) : answer;
  });
}

}  // namespace clbake::layer::serve
