#include <clbake/os/line_channel.hpp>

#include "lines.hpp"
#include "windows/process/child.hpp"

#include <algorithm>
#include <utility>

namespace clbake::os {
namespace {

constexpr DWORD kPipeBytes = 1 << 16;

// One operation on a pipe that was opened for overlapped ones.
class Operation {
 public:
  Operation() { state_.hEvent = event_.get(); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  OVERLAPPED* state() { return &state_; }
  HANDLE event() const { return event_.get(); }

  // The bytes that were moved; nothing when the pipe is broken, or, unless it waits, while the operation goes on.
  std::optional<DWORD> result(HANDLE pipe, bool wait) {
    DWORD bytes = 0;
    if (::GetOverlappedResult(pipe, &state_, &bytes, wait ? TRUE : FALSE)) return bytes;
    return std::nullopt;
  }

 private:
  windows::Handle event_{::CreateEventW(nullptr, TRUE, FALSE, nullptr)};
  OVERLAPPED state_ = {};
};

}  // namespace

// A read is always under way, unless the child has closed its end or too much has come.
struct LineChannel::Pipe {
  explicit Pipe(windows::Handle end) : handle(std::move(end)) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::CancelIoEx(handle.get(), nullptr);
    if (!silent) reading.result(handle.get(), true);  // until it is cancelled, the system writes into the buffer
  }

  void read_on() {
    const bool begun = ::ReadFile(handle.get(), buffer, sizeof buffer, nullptr, reading.state()) ||
                       ::GetLastError() == ERROR_IO_PENDING;
    silent = !begun;
  }

  windows::Handle handle;
  Operation reading;
  char buffer[4096] = {};
  bool silent = false;  // the child has closed its end
};

// The child's end of the pipe is its standard input, which it may write to as well.
Result<LineChannel> LineChannel::start(const Launch& launch) {
  const std::wstring name = windows::new_pipe_name();
  windows::Handle ours(::CreateNamedPipeW(name.c_str(),
                                          PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                          PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                                          1, kPipeBytes, kPipeBytes, 0, nullptr));
  if (!ours) return windows::io_failure("pipe");
  windows::Handle theirs = windows::open_inheritable(name, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING);
  if (!theirs) return windows::io_failure("pipe");
  Result<Child> child = windows::start(launch, theirs.get());
  if (!child) return child.status();
  theirs.close();
  auto pipe = std::make_unique<Pipe>(std::move(ours));
  pipe->read_on();
  return LineChannel(std::move(pipe), std::move(*child));
}

LineChannel::LineChannel(std::unique_ptr<Pipe> pipe, Child child) : pipe_(std::move(pipe)), child_(std::move(child)) {}
LineChannel::LineChannel(LineChannel&& other) noexcept = default;
LineChannel& LineChannel::operator=(LineChannel&& other) noexcept = default;
LineChannel::~LineChannel() = default;

void LineChannel::send(const std::string& line) {
  const std::string text = line + "\n";
  Operation writing;
  const bool begun =
      ::WriteFile(pipe_->handle.get(), text.data(), static_cast<DWORD>(text.size()), nullptr, writing.state()) ||
      ::GetLastError() == ERROR_IO_PENDING;
  if (begun) writing.result(pipe_->handle.get(), true);
}

void LineChannel::read_available() {
  while (!pipe_->silent && received_.size() <= kLongestLine) {
    const std::optional<DWORD> bytes = pipe_->reading.result(pipe_->handle.get(), false);
    if (!bytes && ::GetLastError() == ERROR_IO_INCOMPLETE) return;
    pipe_->silent = !bytes;
    if (!bytes) return;
    received_.append(pipe_->buffer, *bytes);
    pipe_->read_on();
  }
}

// As many as the system waits for at once; more are looked at again soon.
void LineChannel::wait(const std::vector<const LineChannel*>& all, int milliseconds) {
  constexpr int kSoonMs = 10;
  std::vector<HANDLE> handles;
  for (const LineChannel* one : all) {
    if (!one->pipe_->silent) handles.push_back(one->pipe_->reading.event());
    handles.push_back(one->child_.process().handle.get());
  }
  if (handles.size() > MAXIMUM_WAIT_OBJECTS) {
    handles.resize(MAXIMUM_WAIT_OBJECTS);
    milliseconds = std::min(milliseconds, kSoonMs);
  }
  const auto limit = static_cast<DWORD>(milliseconds);
  if (handles.empty()) return ::Sleep(limit);
  ::WaitForMultipleObjects(static_cast<DWORD>(handles.size()), handles.data(), FALSE, limit);
}

void ParentChannel::send(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    DWORD bytes = 0;
    const auto left = static_cast<DWORD>(text.size() - sent);
    if (!::WriteFile(::GetStdHandle(STD_INPUT_HANDLE), text.data() + sent, left, &bytes, nullptr)) return;
    sent += bytes;
  }
}

std::optional<std::string> ParentChannel::receive() {
  while (true) {
    std::optional<std::string> line = take_line(received_);
    if (line) return line;
    char buffer[4096];
    DWORD bytes = 0;
    if (!::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), buffer, sizeof buffer, &bytes, nullptr)) return std::nullopt;
    if (bytes == 0) return std::nullopt;
    received_.append(buffer, bytes);
  }
}

}  // namespace clbake::os
