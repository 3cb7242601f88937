#include <clbake/os/lock.hpp>

#include "windows/security.hpp"

namespace clbake::os {
namespace {

DWORD lock_byte(std::intptr_t file, std::uint32_t byte, DWORD flags) {
  OVERLAPPED at = {};
  at.Offset = byte;
  const bool locked = ::LockFileEx(reinterpret_cast<HANDLE>(file), LOCKFILE_EXCLUSIVE_LOCK | flags, 0, 1, 0, &at) != 0;
  return locked ? ERROR_SUCCESS : ::GetLastError();
}

}  // namespace

Result<LockFile> LockFile::open(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  windows::PrivateAccess access;
  windows::Handle file(::CreateFileW(name->c_str(), GENERIC_READ | GENERIC_WRITE,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, access.get(), OPEN_ALWAYS,
                                     FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!file) return windows::io_failure("cannot be written", ::GetLastError()).within(path);
  return LockFile(path, reinterpret_cast<std::intptr_t>(file.release()));
}

LockFile::LockFile(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

LockFile::~LockFile() {
  if (handle_ != -1) ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

Result<bool> LockFile::try_lock(std::uint32_t byte) const {
  const DWORD error = lock_byte(handle_, byte, LOCKFILE_FAIL_IMMEDIATELY);
  if (error == ERROR_SUCCESS) return true;
  if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return false;
  return windows::io_failure("cannot be locked", error).within(path_);
}

Status LockFile::lock(std::uint32_t byte) const {
  const DWORD error = lock_byte(handle_, byte, 0);
  return error == ERROR_SUCCESS ? Status() : windows::io_failure("cannot be locked", error).within(path_);
}

}  // namespace clbake::os
