// Shared by the files of this folder.
#pragma once

#include <clbake/status.hpp>

#include <windows.h>
#include <string>
#include <string_view>
#include <utility>

namespace clbake::os::windows {

// An open handle, which it closes. Null stands for none.
class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { close(); }

  explicit operator bool() const { return handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, nullptr); }
  void close() {
    if (handle_) ::CloseHandle(release());
  }

 private:
  HANDLE handle_ = nullptr;
};

// UTF-16 of a text. Fails with invalid_argument when it is not UTF-8 or holds a NUL.
Result<std::wstring> utf16(std::string_view text);

// The same of any text: what is not UTF-8 becomes U+FFFD.
std::wstring wide(std::string_view text);

// The same of a path, in the form without a limit of length where it needs that.
Result<std::wstring> wide_path(std::string_view path);

// From the root; empty when the system cannot tell.
std::wstring full_path(const std::wstring& path);

// UTF-8; halves of surrogate pairs become U+FFFD.
std::string narrow(std::wstring_view text);

// The same, but such a half becomes what is not UTF-8, so that no path is taken for another one.
std::string exact(std::wstring_view text);

// narrow() of a path, with "/" between its parts and without the prefix that wide_path adds.
std::string narrow_path(std::wstring path);

// The system's text, in its language, on one line.
std::string message_of(DWORD error);

// not_found or io, as the error has it.
Code code_of(DWORD error);

Status io_failure(const char* step, DWORD error = ::GetLastError());

// True for what passes when another program, such as a scanner for viruses, closes the file.
bool is_passing(DWORD error);

// Calls `step` (an error or ERROR_SUCCESS) until its failure is not a passing one, for up to a second.
template <typename Step>
DWORD retried(Step step) {
  DWORD error = step();
  for (int round = 0; is_passing(error) && round < 100; ++round) {
    ::Sleep(10);
    error = step();
  }
  return error;
}

}  // namespace clbake::os::windows
