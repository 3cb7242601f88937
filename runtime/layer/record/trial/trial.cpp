#include "record/trial/trial.hpp"

#include <clbake/os/guest.hpp>
#include <clbake/platform.hpp>

#include "down.hpp"
#include "opencl/cl.hpp"
#include "questions.hpp"
#include "record/guard.hpp"
#include "record/handles.hpp"
#include "record/trial/trial_arguments.hpp"
#include "record/write/journal.hpp"
#include "record/write/json_text.hpp"
#include "settings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace clbake::layer::record {
namespace {

constexpr std::size_t kProgramBytes = std::size_t{6} << 20;  // a bundle holds them in one record, as hexadecimal digits
constexpr std::size_t kReadBytes = std::size_t{64} << 20;    // of one launch

// Trials of one process: a child that it forked does not finish them.
struct InTheMaking {
  std::atomic<int> count = 0;
  std::atomic<std::uint64_t> process = 0;

  void begin() {
    const std::uint64_t now = os::process_id();
    if (process.exchange(now) != now) count = 0;
    ++count;
  }
  bool is_empty() const { return process != os::process_id() || count <= 0; }
};
InTheMaking trials_in_the_making;

// Takes bytes of what may still be written as contents.
bool take(std::size_t bytes) {
  static std::atomic<std::uint64_t> left =
      settings().record_bytes - std::min(settings().record_bytes, stored_contents());
  std::uint64_t now = left;
  while (bytes <= now) {
    if (left.compare_exchange_weak(now, now - bytes)) return true;
  }
  return false;
}

// Without the zeros at the end, which take nothing in files and bundles.
std::size_t kept_bytes(const std::vector<char>& bytes) {
  const auto end = std::find_if(bytes.rbegin(), bytes.rend(), [](char byte) { return byte != 0; });
  return static_cast<std::size_t>(bytes.rend() - end);
}

// PoCL enqueues reads whatever they wait for. NVIDIA's driver may wait in the call, for ever where the event is the
// program's to end after its launch; of other drivers it is not known.
bool may_block(cl_command_queue queue) {
  if (!has_open_user_event()) return false;
  const cl_platform_id platform = platform_of(device_of(queue));
  if (!platform) return true;
  cl_int error = CL_SUCCESS;
  const std::string name = platform_text(platform, CL_PLATFORM_NAME, error);
  return error != CL_SUCCESS || platform_named(name).id != PlatformId::pocl;
}

}  // namespace

// Shared by the launch and the events of its reads; the last of them finishes it.
class Trial {
 public:
  Trial(SeenKernel& kernel, SeenKernel::Attempts& attempts, const LaunchSizes& sizes)
      : kernel_(kernel), attempts_(attempts), sizes_(sizes) {
    trials_in_the_making.begin();
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    guarded([&] { finish(); });
    --trials_in_the_making.count;
  }

  std::vector<TrialArgument> arguments;
  std::vector<std::vector<char>> contents;  // of each argument; empty: none was read

  // Sets `arguments`. Returns why there will be no trial; empty when there will.
  std::string prepare(cl_command_queue queue, cl_kernel kernel, const KernelState& state);

  // The first reason is written, unless it is empty: then nobody needs to know.
  void give_up(const std::string& reason) {
    if (!given_up_.exchange(true) && !reason.empty()) add_line(kernel_, "untried", quoted(reason));
  }

 private:
  bool fits_program();
  std::string content_field(std::size_t i, std::string& name) const;
  std::string text() const;
  void finish();

  SeenKernel& kernel_;
  SeenKernel::Attempts& attempts_;
  const LaunchSizes sizes_;
  std::atomic<bool> given_up_ = false;
};

std::string Trial::prepare(cl_command_queue queue, cl_kernel kernel, const KernelState& state) {
  if (may_block(queue)) return "a user event holds commands back, and reads could wait for it";
  const std::string wrong = arguments_of(kernel, state, arguments);
  if (!wrong.empty()) return wrong;
  std::size_t bytes = 0;
  for (const TrialArgument& argument : arguments) {
    if (argument.memory && argument.memory->has_content) bytes += argument.memory->bytes();
  }
  if (bytes > kReadBytes) return "its contents take more than 64 MiB";
  contents.resize(arguments.size());
  return {};
}

// A part of the contents would do harm: kernels follow what they find, and do not end or leave their buffers where it
// is missing.
bool Trial::fits_program() {
  std::size_t bytes = 0;
  for (const std::vector<char>& content : contents) bytes += kept_bytes(content);
  const std::lock_guard<std::mutex> lock(seen_mutex());
  std::size_t& used = kernel_.program->content_bytes;
  if (bytes > kProgramBytes - used) {
    give_up("its contents do not fit: a program's trials may hold 6 MiB");
  } else if (!take(bytes)) {
    give_up("the recording has reached its limit of bytes");
  } else {
    used += bytes;
  }
  return !given_up_;
}

// The content as a field: `name` and its value. An empty value: it could not be stored.
std::string Trial::content_field(std::size_t i, std::string& name) const {
  const std::vector<char>& bytes = contents[i];
  const bool zero = kept_bytes(bytes) == 0;
  name = zero ? "fill" : "file";
  if (zero) return "0";
  const std::string file = store("data", ".bin", {bytes.data(), bytes.size()});
  return file.empty() ? std::string() : quoted(file);
}

// Empty when a content could not be stored.
std::string Trial::text() const {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].memory) {
      items.push_back(arguments[i].fields);
      continue;
    }
    std::string name;
    const std::string content = content_field(i, name);
    if (content.empty()) return {};
    std::string item = arguments[i].memory->fields;
    item.pop_back();
    item += "," + quoted(name) + ":" + content;
    items.push_back(item + (arguments[i].memory->has_content ? "}" : R"(,"truncated":true})"));
  }
  Object trial;
  trial.add("global", list(sizes_.global)).add("local", sizes_.local_text());
  const bool moved = std::any_of(sizes_.offset, sizes_.offset + 3, [](std::size_t offset) { return offset != 0; });
  if (moved) trial.add("offset", list(sizes_.offset));
  return trial.add("arguments", list(items)).text();
}

void Trial::finish() {
  const std::string trial = given_up_ || !fits_program() ? std::string() : text();
  const std::lock_guard<std::mutex> lock(seen_mutex());
  attempts_.is_running = false;
  attempts_.has_trial = !trial.empty();
  if (!trial.empty()) add_line(kernel_, "trial", trial);
}

std::string LaunchSizes::local_text() const { return has_local ? list(local) : "null"; }

TrialReads::TrialReads(cl_command_queue queue, cl_kernel kernel, const KernelState& state,
                       SeenKernel::Attempts& attempts, const LaunchSizes& sizes, cl_uint waits,
                       const cl_event* wait_list)
    : trial_(std::make_shared<Trial>(*state.kernel, attempts, sizes)), own_waits_(wait_list ? waits : 0) {
  if (wait_list) wait_list_.assign(wait_list, wait_list + waits);
  const std::string obstacle = trial_->prepare(queue, kernel, state);
  obstacle.empty() ? read(queue) : trial_->give_up(obstacle);
}

void TrialReads::read(cl_command_queue queue) {
  const auto ended = [](cl_event, cl_int status, void* data) {
    const std::unique_ptr<std::shared_ptr<Trial>> trial(static_cast<std::shared_ptr<Trial>*>(data));
    if (status < 0) (*trial)->give_up("the content of an argument could not be read");
  };
  wait_list_.reserve(wait_list_.size() + trial_->arguments.size());
  for (std::size_t i = 0; i < trial_->arguments.size(); ++i) {
    const std::optional<Memory>& memory = trial_->arguments[i].memory;
    if (!memory || !memory->has_content) continue;
    std::vector<char>& content = trial_->contents[i];
    content.resize(memory->bytes());
    auto holder = std::make_unique<std::shared_ptr<Trial>>(trial_);
    cl_event event = nullptr;
    const cl_event* own = own_waits_ ? wait_list_.data() : nullptr;
    const cl_int error = enqueue_read(queue, *memory, static_cast<cl_uint>(own_waits_), own, content.data(), &event);
    if (error != CL_SUCCESS) {
      return trial_->give_up("argument " + std::to_string(i) + " cannot be read: OpenCL error " +
                             std::to_string(error));
    }
    wait_list_.push_back(event);
    if (down().clSetEventCallback(event, CL_COMPLETE, ended, holder.get()) != CL_SUCCESS) {
      static auto& reads_without_end = *new std::vector<std::shared_ptr<Trial>>;
      const std::lock_guard<std::mutex> lock(seen_mutex());
      reads_without_end.push_back(trial_);
      return trial_->give_up("the driver does not tell when the contents have been read");
    }
    static_cast<void>(holder.release());  // by `ended`
  }
}

void TrialReads::end(bool launched) {
  if (!launched) trial_->give_up({});
  for (std::size_t i = own_waits_; i < wait_list_.size(); ++i) down().clReleaseEvent(wait_list_[i]);
  trial_.reset();
}

void await_trials() {
  using namespace std::chrono;
  const auto last = steady_clock::now() + milliseconds(500);
  while (!trials_in_the_making.is_empty() && steady_clock::now() < last) std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace clbake::layer::record
