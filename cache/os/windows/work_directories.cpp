#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/work_directories.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

#include <random>

namespace clbake::os {
namespace {

constexpr const char* kLock = "clbake.lock";

std::string random_name() {
  static constexpr char kDigits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string name = "clbake-";
  for (int i = 0; i < 10; ++i) name += kDigits[random() % 36];
  return name;
}

DWORD make_private(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return ERROR_INVALID_NAME;
  windows::PrivateAccess access;
  return ::CreateDirectoryW(name->c_str(), access.get()) ? ERROR_SUCCESS : ::GetLastError();
}

Status check_owner(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status();
  const windows::Handle directory(::CreateFileW(name->c_str(), READ_CONTROL,
                                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!directory) return windows::io_failure("cannot open");
  return windows::is_own(directory.get()) ? Status() : Status(Code::io, "belongs to another user");
}

}  // namespace

Result<std::string> make_temporary_directory(const std::string& parent) {
  std::error_code error;
  const std::string base = parent.empty() ? utf8(std::filesystem::temp_directory_path(error)) : parent;
  if (error) return {Code::io, "TMP names no directory for temporary files: " + error.message()};
  for (;;) {
    std::string path = base + (base.back() == '/' ? "" : "/") + random_name();
    const DWORD failure = make_private(path);
    if (failure == ERROR_SUCCESS) return path;
    if (failure != ERROR_ALREADY_EXISTS) return windows::io_failure("cannot create", failure).within(path);
  }
}

// A link to a directory is no file, and goes like an empty one.
void remove_directory(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name || windows::remove(*name)) return;
  const DWORD attributes = ::GetFileAttributesW(name->c_str());
  const bool is_link = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT);
  const Result<std::vector<Item>> items = is_link ? std::vector<Item>() : list_directory(path);
  if (!items) return;
  for (const Item& item : *items) remove_directory(item.path);
  ::RemoveDirectoryW(name->c_str());
}

// The lock is an open file that nobody else can open, and that goes with the handle.
Result<std::optional<DirectoryLock>> DirectoryLock::take(const std::string& path) {
  const DWORD made = make_private(path);
  if (made != ERROR_SUCCESS && made != ERROR_ALREADY_EXISTS) {
    return windows::io_failure("cannot create", made).within(path);
  }
  const Status own = made == ERROR_SUCCESS ? Status() : check_owner(path);
  if (!own) return own.within(path);
  const Result<std::wstring> name = windows::wide_path(path + "/" + kLock);
  if (!name) return name.status().within(path);
  windows::Handle file(::CreateFileW(name->c_str(), GENERIC_WRITE | DELETE, 0, nullptr, OPEN_ALWAYS,
                                     FILE_FLAG_DELETE_ON_CLOSE, nullptr));
  const DWORD error = file ? ERROR_SUCCESS : ::GetLastError();
  if (error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED) return std::optional<DirectoryLock>();
  if (error != ERROR_SUCCESS) return windows::io_failure("cannot open", error).within(path);
  return std::optional<DirectoryLock>(DirectoryLock(path, reinterpret_cast<std::intptr_t>(file.release())));
}

DirectoryLock::DirectoryLock(std::string path, std::intptr_t handle) : path_(std::move(path)), handle_(handle) {}

DirectoryLock::~DirectoryLock() {
  if (handle_ != -1) ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

bool DirectoryLock::is_own_file(const std::string& name) { return name == kLock; }

void DirectoryLock::remove_if_empty() {
  if (handle_ != -1) ::CloseHandle(reinterpret_cast<HANDLE>(std::exchange(handle_, -1)));
  const Result<std::wstring> name = windows::wide_path(path_);
  if (name) ::RemoveDirectoryW(name->c_str());
}

}  // namespace clbake::os
