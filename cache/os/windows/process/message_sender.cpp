#include <clbake/os/message_sender.hpp>

#include "windows/process/child.hpp"
#include "windows/process/message.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace clbake::os {

struct MessageSender::Channel {
  windows::Handle pipe;
  windows::Handle receiver;  // the process
};

namespace {

using windows::Handle;

constexpr DWORD kPipeBytes = 1 << 16;  // of messages that wait: thousands

// The receiver may outlive the job that the program is in, where that lets it.
Result<PROCESS_INFORMATION> start_detached(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment, HANDLE input) {
  const Handle nothing = windows::open_inheritable(L"NUL", GENERIC_WRITE, OPEN_EXISTING);
  const Launch launch = {arguments, environment, {}, {}, true};
  Result<PROCESS_INFORMATION> process = Status(Code::io, "not started");
  for (const DWORD job : {CREATE_BREAKAWAY_FROM_JOB, 0}) {
    if (!process)
      process = windows::create(launch, input, nothing.get(), nullptr, CREATE_NO_WINDOW | static_cast<DWORD>(job));
  }
  return process;
}

// The message in memory that the receiver has open, too. Null when it has ended.
Handle shared_copy(const std::string& message, HANDLE receiver, HANDLE& theirs) {
  const std::uint64_t bytes = std::max<std::uint64_t>(message.size(), 1);
  Handle memory(::CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, static_cast<DWORD>(bytes >> 32U),
                                     static_cast<DWORD>(bytes), nullptr));
  void* const view = memory ? ::MapViewOfFile(memory.get(), FILE_MAP_WRITE, 0, 0, 0) : nullptr;
  if (!view) return {};
  std::memcpy(view, message.data(), message.size());
  ::UnmapViewOfFile(view);
  const BOOL shared =
      ::DuplicateHandle(::GetCurrentProcess(), memory.get(), receiver, &theirs, FILE_MAP_READ, FALSE, 0);
  return shared ? std::move(memory) : Handle();
}

// 0 or the error; ERROR_OPERATION_ABORTED when there is no room in the pipe.
DWORD write_at_once(HANDLE pipe, const windows::Message& message) {
  const Handle event(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  OVERLAPPED writing = {};
  writing.hEvent = event.get();
  DWORD bytes = 0;
  if (::WriteFile(pipe, &message, sizeof message, nullptr, &writing)) return 0;
  if (::GetLastError() != ERROR_IO_PENDING) return ::GetLastError();
  ::CancelIoEx(pipe, &writing);
  return ::GetOverlappedResult(pipe, &writing, &bytes, TRUE) ? 0 : ::GetLastError();
}

bool is_gone(DWORD error) {
  return error == ERROR_NO_DATA || error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED;
}

}  // namespace

Result<MessageSender> MessageSender::start(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment) {
  const std::wstring name = windows::new_pipe_name();
  SECURITY_ATTRIBUTES inheritable = {sizeof inheritable, nullptr, TRUE};
  const Handle theirs(
      ::CreateNamedPipeW(name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                         PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0,
                         kPipeBytes, 0, &inheritable));
  if (!theirs) return windows::io_failure("pipe");
  Handle ours(::CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr));
  if (!ours) return windows::io_failure("pipe");
  const Result<PROCESS_INFORMATION> process = start_detached(arguments, environment, theirs.get());
  if (!process) return process.status().within(arguments[0] + ": cannot start");
  auto channel = std::make_unique<Channel>();
  channel->pipe = std::move(ours);
  channel->receiver = Handle(process->hProcess);
  ::ResumeThread(process->hThread);
  ::CloseHandle(process->hThread);
  return MessageSender(std::move(channel));
}

Status MessageSender::send(const std::string& message) const {
  const HANDLE receiver = channel_->receiver.get();
  if (::WaitForSingleObject(receiver, 0) == WAIT_OBJECT_0) return {Code::not_found, "has ended"};
  HANDLE theirs = nullptr;
  const Handle memory = shared_copy(message, receiver, theirs);
  if (!memory) return windows::io_failure("the message");
  const DWORD error = write_at_once(channel_->pipe.get(), {reinterpret_cast<std::uintptr_t>(theirs), message.size()});
  if (error == 0) return {};
  ::DuplicateHandle(receiver, theirs, nullptr, nullptr, 0, FALSE, DUPLICATE_CLOSE_SOURCE);
  if (is_gone(error)) return {Code::not_found, "has ended"};
  return windows::io_failure("is busy", error);
}

}  // namespace clbake::os
