#include <clbake/os/messages.hpp>

#include "windows/process/message.hpp"
#include "windows/system.hpp"

#include <cstring>

namespace clbake::os {
namespace {

// A copy of the shared memory that the message names. Fails with malformed.
Result<std::string> content_of(const windows::Message& message, std::size_t most_bytes) {
  const windows::Handle memory(reinterpret_cast<HANDLE>(static_cast<std::uintptr_t>(message.memory)));
  if (message.bytes > most_bytes) return {Code::malformed, "a message is no file, or too large"};
  const void* const view = ::MapViewOfFile(memory.get(), FILE_MAP_READ, 0, 0, static_cast<SIZE_T>(message.bytes));
  if (!view) return {Code::malformed, "a message ends too early"};
  std::string bytes(static_cast<const char*>(view), static_cast<std::size_t>(message.bytes));
  ::UnmapViewOfFile(view);
  return bytes;
}

}  // namespace

bool is_message_channel() {
  DWORD flags = 0;
  return ::GetNamedPipeInfo(::GetStdHandle(STD_INPUT_HANDLE), &flags, nullptr, nullptr, nullptr) &&
         (flags & PIPE_TYPE_MESSAGE) != 0;
}

Received receive_message(int milliseconds, std::size_t most_bytes) {
  const HANDLE pipe = ::GetStdHandle(STD_INPUT_HANDLE);
  const windows::Handle event(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  OVERLAPPED reading = {};
  reading.hEvent = event.get();
  windows::Message message;
  DWORD bytes = 0;
  if (!::ReadFile(pipe, &message, sizeof message, nullptr, &reading)) {
    if (::GetLastError() != ERROR_IO_PENDING) return {Received::Event::end, {}, {}};
    const DWORD waited = ::WaitForSingleObject(event.get(), static_cast<DWORD>(milliseconds));
    if (waited != WAIT_OBJECT_0) ::CancelIoEx(pipe, &reading);
  }
  const DWORD error = ::GetOverlappedResult(pipe, &reading, &bytes, TRUE) ? 0 : ::GetLastError();
  if (error == ERROR_OPERATION_ABORTED) return {};
  if (error != 0 && error != ERROR_MORE_DATA) return {Received::Event::end, {}, {}};
  if (bytes != sizeof message || error != 0) {
    return {Received::Event::message, {Code::malformed, "a message carries no file"}, {}};
  }
  Result<std::string> content = content_of(message, most_bytes);
  return {Received::Event::message, content.status(), content ? std::move(*content) : std::string()};
}

}  // namespace clbake::os
