#include "windows/open.hpp"

#include <atomic>
#include <cstdint>

namespace clbake::os::windows {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

std::uint64_t number_of(const FILETIME& time) { return std::uint64_t{time.dwHighDateTime} << 32U | time.dwLowDateTime; }

// A writer was killed while `path` had no file: see replace.
bool put_back(const std::wstring& path) {
  WIN32_FIND_DATAW item = {};
  const HANDLE listing = ::FindFirstFileW((path + L".old.*").c_str(), &item);
  if (listing == INVALID_HANDLE_VALUE) return false;
  ::FindClose(listing);
  const std::wstring aside = path.substr(0, path.find_last_of(L"/\\") + 1) + item.cFileName;
  return ::MoveFileExW(aside.c_str(), path.c_str(), 0) != 0;
}

}  // namespace

std::wstring beside(const std::wstring& path, const wchar_t* kind) {
  static std::atomic<unsigned> serial{0};
  return path + kind + std::to_wstring(::GetCurrentProcessId()) + L"." + std::to_wstring(serial++);
}

Result<Handle> open_existing(const std::wstring& path, DWORD access, DWORD flags) {
  Handle file;
  const auto open = [&]() -> DWORD {
    file = Handle(::CreateFileW(path.c_str(), access, kShareAll, nullptr, OPEN_EXISTING, flags, nullptr));
    return file ? ERROR_SUCCESS : ::GetLastError();
  };
  DWORD error = retried(open);
  if (error == ERROR_FILE_NOT_FOUND && put_back(path)) error = retried(open);
  if (error == ERROR_SUCCESS) return file;
  return {code_of(error), message_of(error)};
}

Status check_regular(HANDLE file) {
  BY_HANDLE_FILE_INFORMATION info = {};
  if (::GetFileType(file) != FILE_TYPE_DISK) return {Code::io, "not a regular file"};
  if (!::GetFileInformationByHandle(file, &info)) return {Code::io, message_of(::GetLastError())};
  return info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? Status(Code::io, "is a directory") : Status();
}

Status write_all(HANDLE file, std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto step = static_cast<DWORD>(bytes.size() < kMost ? bytes.size() : kMost);
    if (!::WriteFile(file, bytes.data(), step, &written, nullptr)) return io_failure("write", ::GetLastError());
    bytes.remove_prefix(written);
  }
  return ::FlushFileBuffers(file) ? Status() : io_failure("write", ::GetLastError());
}

DWORD move_file(const std::wstring& from, const std::wstring& to, DWORD flags) {
  return ::MoveFileExW(from.c_str(), to.c_str(), flags | MOVEFILE_WRITE_THROUGH) ? ERROR_SUCCESS : ::GetLastError();
}

DWORD move_beside(const std::wstring& from, const std::wstring& path, const wchar_t* kind, std::wstring& name) {
  return at_free_name(path, kind, name, [&] { return move_file(from, name); });
}

// A mapped file may keep its name until nobody maps it any more, so it gets another one first.
bool remove(const std::wstring& path) {
  if (!is_file(path)) return false;
  remove_left_over(path);  // else the next reader would put an old file back
  std::wstring aside;
  const DWORD error = retried([&] { return move_beside(path, path, L".tmp.", aside); });
  if (error == ERROR_SUCCESS) ::DeleteFileW(aside.c_str());
  return error == ERROR_SUCCESS;
}

bool is_file(const std::wstring& path) {
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

std::int64_t age_seconds(const FILETIME& time) {
  FILETIME now = {};
  ::GetSystemTimeAsFileTime(&now);
  return (static_cast<std::int64_t>(number_of(now)) - static_cast<std::int64_t>(number_of(time))) / 10'000'000;
}

}  // namespace clbake::os::windows
