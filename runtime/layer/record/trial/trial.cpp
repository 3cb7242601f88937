#include "record/trial/trial.hpp"

#include "down.hpp"
#include "record/guard.hpp"
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

constexpr std::size_t kMostContentBytes = std::size_t{1} << 20;
constexpr std::size_t kLeastContentBytes = std::size_t{4} << 10;
constexpr std::size_t kProgramBytes = std::size_t{6} << 20;  // a bundle holds them in one record, as hexadecimal digits

std::atomic<int> trials_in_the_making = 0;

// Takes bytes of what this process may still write as contents.
bool take(std::size_t bytes) {
  static std::atomic<std::uint64_t> left = settings().record_bytes;
  std::uint64_t now = left;
  while (bytes <= now) {
    if (left.compare_exchange_weak(now, now - bytes)) return true;
  }
  return false;
}

}  // namespace

// Shared by the launch and the events of its reads; the last of them finishes it.
class Trial {
 public:
  Trial(SeenKernel& kernel, SeenKernel::Attempts& attempts, const LaunchSizes& sizes)
      : kernel_(kernel), attempts_(attempts), sizes_(sizes) {
    ++trials_in_the_making;
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    guarded([&] { finish(); });
    --trials_in_the_making;
  }

  std::vector<TrialArgument> arguments;
  std::vector<std::vector<char>> contents;  // of each argument; empty: none was read

  // Sets `arguments`. Returns why there will be no trial, as give_up takes it.
  std::optional<std::string> prepare(cl_kernel kernel, const KernelState& state, bool had_trial);

  // False when the contents of some argument are larger than what a recording keeps.
  bool is_whole() const;

  // The first reason is written, unless it is empty: then nobody needs to know.
  void give_up(const std::string& reason) {
    if (!given_up_.exchange(true) && !reason.empty()) add_line(kernel_, "untried", quoted(reason));
  }

 private:
  std::size_t keep_parts();
  std::string content_field(std::size_t i, std::string& name) const;
  std::string text() const;
  void finish();

  SeenKernel& kernel_;
  SeenKernel::Attempts& attempts_;
  const LaunchSizes sizes_;
  std::atomic<bool> given_up_ = false;
};

// The more a program's trials hold, the less is kept of each further content. Returns the bytes of all.
std::size_t Trial::keep_parts() {
  const std::lock_guard<std::mutex> lock(seen_mutex());
  std::size_t& used = kernel_.program->content_bytes;
  std::size_t bytes = 0;
  for (TrialArgument& argument : arguments) {
    if (!argument.memory || !argument.memory->has_content) continue;
    const std::size_t left = used < kProgramBytes ? kProgramBytes - used : 0;
    truncate(*argument.memory, std::clamp(left / 8, kLeastContentBytes, kMostContentBytes));
    bytes += argument.memory->bytes();
    used += argument.memory->bytes();
  }
  return bytes;
}

std::optional<std::string> Trial::prepare(cl_kernel kernel, const KernelState& state, bool had_trial) {
  const std::string wrong = arguments_of(kernel, state, arguments);
  if (!wrong.empty()) return wrong;
  if (!take(keep_parts())) return "the recording has reached its limit of bytes";
  if (had_trial && !is_whole()) return "";
  contents.resize(arguments.size());
  return std::nullopt;
}

// The content as a field: `name` and its value. An empty value: it could not be stored.
std::string Trial::content_field(std::size_t i, std::string& name) const {
  const std::vector<char>& bytes = contents[i];
  const bool zero = std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
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
    items.push_back(item + (arguments[i].memory->is_truncated ? R"(,"truncated":true})" : "}"));
  }
  Object trial;
  trial.add("global", list(sizes_.global)).add("local", sizes_.local_text());
  const bool moved = std::any_of(sizes_.offset, sizes_.offset + 3, [](std::size_t offset) { return offset != 0; });
  if (moved) trial.add("offset", list(sizes_.offset));
  return trial.add("arguments", list(items)).text();
}

bool Trial::is_whole() const {
  return std::none_of(arguments.begin(), arguments.end(),
                      [](const TrialArgument& argument) { return argument.memory && argument.memory->is_truncated; });
}

void Trial::finish() {
  const std::string trial = given_up_ ? std::string() : text();
  const std::lock_guard<std::mutex> lock(seen_mutex());
  attempts_.is_running = false;
  attempts_.has_trial = attempts_.has_trial || !trial.empty();
  attempts_.is_whole = !trial.empty() && is_whole();
  if (!trial.empty()) add_line(kernel_, "trial", trial);
}

std::string LaunchSizes::local_text() const { return has_local ? list(local) : "null"; }

TrialReads::TrialReads(cl_command_queue queue, cl_kernel kernel, const KernelState& state,
                       SeenKernel::Attempts& attempts, const LaunchSizes& sizes, cl_uint waits,
                       const cl_event* wait_list)
    : trial_(std::make_shared<Trial>(*state.kernel, attempts, sizes)), own_waits_(wait_list ? waits : 0) {
  if (wait_list) wait_list_.assign(wait_list, wait_list + waits);
  const bool had_trial = attempts.has_trial;
  const std::optional<std::string> obstacle = trial_->prepare(kernel, state, had_trial);
  if (obstacle) {
    trial_->give_up(*obstacle);
  } else {
    read(queue);
  }
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
  while (trials_in_the_making > 0 && steady_clock::now() < last) std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace clbake::layer::record
