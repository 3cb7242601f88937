#include "serve/learning.hpp"

#include <clbake/learn_request.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/platform.hpp>

#include "learn/sender.hpp"
#include "log.hpp"
#include "questions.hpp"
#include "serve/catalogue.hpp"
#include "settings.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace clbake::layer::serve {
namespace {

using learn::SeenLaunch;

// A program as the learner knows it.
struct Lesson {
  ContentDigest digest{};
  std::string options;
  bool is_compiled = false;  // by the driver: the overlay has nothing of it
};

// "sums 64-1-1-goffs0-smallgrid": the name of the machine code that PoCL makes for the launch.
std::string function_of(const SeenLaunch& launch) {
  std::string name = launch.kernel + " ";
  for (const std::uint32_t extent : launch.local) name += std::to_string(extent) + "-";
  name.pop_back();
  return name + (launch.zero_offset ? "-goffs0" : "") + (launch.small_grid ? "-smallgrid" : "");
}

// True where PoCL compiles at this launch of the overlay's program. Its kernels that have no function of their own take
// one for all launches, if they were launched before the program was learned.
bool lacks(const OverlayProgram& program, const SeenLaunch& launch) {
  if (launch.local[0] == 0 || program.functions.count(function_of(launch)) > 0) return false;
  const std::string prefix = launch.kernel + " ";
  const auto first = program.functions.lower_bound(prefix);
  const bool has_functions = first != program.functions.end() && first->compare(0, prefix.size(), prefix) == 0;
  return has_functions || program.launched.count(launch.kernel) == 0;
}

// The program to learn of; nothing if there is nothing to learn from this launch. Null: from a build.
std::optional<Lesson> lesson_of(Program& program, cl_device_id device, const SeenLaunch* launch) {
  Lesson lesson;
  const std::lock_guard<std::mutex> lock(program.mutex);
  if (program.is_specialized) return std::nullopt;  // the learner's would have other constants
  const DeviceBuild* const served = program.baked ? program.baked->find(device) : nullptr;
  if (served) {
    if (!launch || !served->overlay || !lacks(*served->overlay, *launch)) return std::nullopt;
    lesson.digest = served->overlay->digest;
    return lesson;
  }
  for (const DeviceBuild& build : program.built_by_driver) {
    if (build.device == device && build.digest) return Lesson{*build.digest, build.options, true};
  }
  return std::nullopt;
}

learn::Sender& sender() {
  static auto& only = *new learn::Sender(
      {settings().learner, settings().overlay, 0, settings().log == "stderr" ? std::string() : settings().log});
  return only;
}

// The learner's knowledge of a program on a device.
struct Sent {
  bool program = false;
  std::set<std::string> launches;
};

// Sends each program and each launch of it once, however often the application builds the same.
void send(const Lesson& lesson, const Program& program, cl_device_id device, const SeenLaunch* launch) {
  static auto& mutex = *new std::mutex;
  static auto& sent = *new std::map<std::pair<ContentDigest, cl_device_id>, Sent>;
  const Result<Target> target = target_of(device);
  if (!target) return;
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    Sent& known = sent[{lesson.digest, device}];
    first = lesson.is_compiled && !std::exchange(known.program, true);
    if (known.launches.size() >= learn::kMaxLaunches) return;
    const bool is_new = launch && known.launches.insert(function_of(*launch)).second;
    if (!first && !is_new) return;
  }
  learn::Request request;
  request.target = *target;
  request.digest = lesson.digest;
  if (first) {
    ProgramText text = program.text;
    text.options = lesson.options;
    request.program = encode(text);
    request.log = build_log_of(program.handle, device);
  }
  if (launch) request.launches.push_back(*launch);
  const Status status = sender().send(std::move(request));
  if (!status) log("a program is not learned: " + status.message());
}

void learn(Program& program, cl_device_id device, const SeenLaunch* launch) {
  const std::optional<Lesson> lesson = lesson_of(program, device, launch);
  if (lesson) send(*lesson, program, device, launch);
}

std::vector<cl_device_id> built_devices(Program& program) {
  const std::lock_guard<std::mutex> lock(program.mutex);
  std::vector<cl_device_id> devices;
  for (const DeviceBuild& build : program.built_by_driver) devices.push_back(build.device);
  return devices;
}

}  // namespace

bool learns() {
  // A child that the program forked learns nothing: locks of threads that do not exist there may stay.
  static std::atomic<bool> is_fork{false};
  static const bool yes = [] {
    if (settings().learn != Learn::on || settings().overlay.empty()) return false;
    if (settings().learner.empty()) log("nothing is learned: the clbake command, CLBAKE_LEARNER, is not found");
    return !settings().learner.empty() && os::in_forked_children([] { is_fork = true; });
  }();
  return yes && !is_fork;
}

void learn_program(Program& program) noexcept {
  try {
    if (!learns()) return;
    for (const cl_device_id device : built_devices(program)) learn(program, device, nullptr);
  } catch (...) {  // no memory: nothing is learned
  }
}

void learn_launch(Program& program, const std::string& kernel, cl_command_queue queue, cl_uint dimensions,
                  const std::size_t* offset, const std::size_t* global, const std::size_t* local) noexcept {
  try {
    const cl_device_id device = device_of(queue);
    const SeenLaunch launch = learn::seen_launch(kernel, dimensions, offset, global, local);
    if (device) learn(program, device, &launch);
  } catch (...) {  // no memory: nothing is learned
  }
}

}  // namespace clbake::layer::serve
