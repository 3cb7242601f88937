#include <clbake/os/private_directory.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {
namespace windows {
namespace {

HANDLE handle_of(std::intptr_t number) { return reinterpret_cast<HANDLE>(number); }

// The path that the open directory has, without links. It cannot be renamed, nor can those that it is in, as long as
// the handle is open, which does not share that right.
std::wstring path_of(HANDLE directory) {
  std::wstring path(32768, L'\0');
  path.resize(::GetFinalPathNameByHandleW(directory, path.data(), static_cast<DWORD>(path.size()), 0));
  return path;
}

// The path of a file right in the directory.
Result<std::wstring> path_in(std::intptr_t directory, const std::string& name) {
  const Result<std::wstring> file = utf16(name);
  if (!file) return file.status();
  const std::wstring path = path_of(handle_of(directory));
  if (path.empty()) return {Code::io, "its directory has no path"};
  return path + L"\\" + *file;
}

Status make_with_parents(const std::wstring& path) {
  PrivateAccess access;
  for (std::size_t end = path.find_first_of(L"/\\", 1);; end = path.find_first_of(L"/\\", end + 1)) {
    const std::wstring part = path.substr(0, end);
    // If a parent cannot be created, neither can the directory inside it, which is then reported.
    const DWORD error = ::CreateDirectoryW(part.c_str(), access.get()) ? ERROR_SUCCESS : ::GetLastError();
    if (end != path.npos) continue;
    const bool is_there = error == ERROR_SUCCESS || error == ERROR_ALREADY_EXISTS;
    return is_there ? Status() : Status(code_of(error), "mkdir: " + message_of(error));
  }
}

Result<Handle> open_directory(const std::wstring& path, bool create) {
  const DWORD access = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | READ_CONTROL | (create ? FILE_ADD_FILE : 0);
  Handle directory(::CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!directory) {
    const DWORD error = ::GetLastError();
    return {code_of(error), "cannot be opened: " + message_of(error)};
  }
  FILE_ATTRIBUTE_TAG_INFO info = {};
  if (!::GetFileInformationByHandleEx(directory.get(), FileAttributeTagInfo, &info, sizeof info)) {
    return io_failure("stat", ::GetLastError());
  }
  const bool is_link =
      (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) && IsReparseTagNameSurrogate(info.ReparseTag);
  if (is_link) return {Code::io, "is a symbolic link: not used as an overlay"};
  if (!(info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY)) return {Code::io, "cannot be opened: it is no directory"};
  return directory;
}

// A slash or "/." at the end would make the system follow a link.
std::string without_end(std::string path) {
  const auto is_slash = [&](std::size_t i) { return path[i] == '/' || path[i] == '\\'; };
  const auto is_part = [&](std::size_t i) { return is_slash(i) || (path[i] == '.' && is_slash(i - 1)); };
  while (path.size() > 1 && is_part(path.size() - 1)) path.pop_back();
  return path;
}

}  // namespace
}  // namespace windows

Result<PrivateDirectory> PrivateDirectory::open(const std::string& given, bool create) {
  std::string path = windows::without_end(given);
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  const Status made = create ? windows::make_with_parents(*name) : Status();
  if (!made) return made.within(path);
  Result<windows::Handle> directory = windows::open_directory(*name, create);
  const Status fit = directory ? windows::check_private(directory->get(), {}) : directory.status();
  if (!fit) return fit.within(path);
  return PrivateDirectory(std::move(path), reinterpret_cast<std::intptr_t>(directory->release()), {});
}

Result<PrivateDirectory> PrivateDirectory::open_shared(const std::string& given, const std::string& owner) {
  std::string path = windows::without_end(given);
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  const Result<std::string> sid = windows::sid_of_user(owner);
  if (!sid) return sid.status().within(path);
  Result<windows::Handle> directory = windows::open_directory(*name, false);
  const Status fit = directory ? windows::check_private(directory->get(), *sid) : directory.status();
  if (!fit) return fit.within(path);
  return PrivateDirectory(std::move(path), reinterpret_cast<std::intptr_t>(directory->release()), *sid);
}

PrivateDirectory::~PrivateDirectory() {
  if (handle_ != -1) ::CloseHandle(windows::handle_of(handle_));
}

std::optional<PrivateDirectory::File> PrivateDirectory::find(const std::string& name) const {
  const Result<std::wstring> path = windows::path_in(handle_, name);
  if (!path) return std::nullopt;
  const Result<windows::Handle> file =
      windows::open_existing(*path, FILE_READ_ATTRIBUTES | READ_CONTROL, FILE_FLAG_OPEN_REPARSE_POINT);
  BY_HANDLE_FILE_INFORMATION info = {};
  if (!file || !::GetFileInformationByHandle(file->get(), &info)) return std::nullopt;
  const bool is_regular = !(info.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT));
  if (!is_regular || !windows::check_private(file->get(), owner_)) return std::nullopt;
  const FILETIME& time = info.ftLastWriteTime;
  // Since 1970, so that it fits.
  const std::uint64_t ticks =
      (std::uint64_t{time.dwHighDateTime} << 32U | time.dwLowDateTime) - 116'444'736'000'000'000U;
  return File{std::uint64_t{info.nFileSizeHigh} << 32U | info.nFileSizeLow, static_cast<std::int64_t>(ticks) * 100,
              windows::age_seconds(time)};
}

Result<std::vector<std::string>> PrivateDirectory::names() const {
  WIN32_FIND_DATAW item = {};
  const Result<std::wstring> all = windows::path_in(handle_, "*");
  if (!all) return all.status();
  const HANDLE listing = ::FindFirstFileW(all->c_str(), &item);
  if (listing == INVALID_HANDLE_VALUE) return windows::io_failure("cannot be listed", ::GetLastError());
  std::vector<std::string> names;
  do {
    names.push_back(windows::narrow(item.cFileName));
  } while (::FindNextFileW(listing, &item));
  ::FindClose(listing);
  return names;
}

Result<Mapping> PrivateDirectory::map(const std::string& name) const {
  const Result<std::wstring> path = windows::path_in(handle_, name);
  if (!path) return path.status().within(name);
  Result<Mapping> mapping = windows::map(*path);
  return mapping ? std::move(mapping) : mapping.status().within(name);
}

Status PrivateDirectory::write(const std::string& name, std::string_view bytes) const {
  const Result<std::wstring> path = windows::path_in(handle_, name);
  const Status status = path ? windows::write_through_temporary(*path, true, bytes) : path.status();
  return status.within(name);
}

void PrivateDirectory::touch(const std::string& name) const {
  const Result<std::wstring> path = windows::path_in(handle_, name);
  if (!path) return;
  const Result<windows::Handle> file =
      windows::open_existing(*path, FILE_WRITE_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT);
  FILETIME now = {};
  ::GetSystemTimeAsFileTime(&now);
  if (file) ::SetFileTime(file->get(), nullptr, nullptr, &now);
}

void PrivateDirectory::remove(const std::string& name) const {
  const Result<std::wstring> path = windows::path_in(handle_, name);
  if (path) windows::remove(*path);
}

}  // namespace clbake::os
