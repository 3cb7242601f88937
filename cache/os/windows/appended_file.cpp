#include <clbake/os/appended_file.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {

Result<AppendedFile> AppendedFile::open(const std::string& path, Access access) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  windows::PrivateAccess user;
  windows::Handle file(
      ::CreateFileW(name->c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    access == Access::user ? user.get() : nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) return windows::io_failure("cannot open").within(path);
  return AppendedFile(path, reinterpret_cast<std::intptr_t>(file.release()));
}

AppendedFile::AppendedFile(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

AppendedFile::~AppendedFile() {
  if (handle_ != -1) ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

Status AppendedFile::truncate(std::uint64_t bytes) const {
  FILE_END_OF_FILE_INFO end = {};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const bool done =
      ::SetFileInformationByHandle(reinterpret_cast<HANDLE>(handle_), FileEndOfFileInfo, &end, sizeof end) != 0;
  return done ? Status() : windows::io_failure("cannot truncate").within(path_);
}

// An offset of all ones stands for the end of the file.
Status AppendedFile::append(std::string_view bytes) const {
  OVERLAPPED at = {};
  at.Offset = at.OffsetHigh = 0xFFFFFFFFU;
  DWORD written = 0;
  const auto size = static_cast<DWORD>(bytes.size());
  const bool done = ::WriteFile(reinterpret_cast<HANDLE>(handle_), bytes.data(), size, &written, &at) != 0;
  return done && written == size ? Status() : windows::io_failure("cannot write").within(path_);
}

bool is_held(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  return !name || !windows::Handle(::CreateFileW(name->c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                                 nullptr, OPEN_EXISTING, 0, nullptr));
}

}  // namespace clbake::os
