// Atomic replacement of files.
#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {
namespace windows {
namespace {

// A mapped file cannot be replaced, but renamed: it goes aside, and away when nobody maps it any more. For a moment
// there is no `path`; if the process is killed then, the next reader puts the old file back.
DWORD replace_mapped(const std::wstring& temporary, const std::wstring& path) {
  std::wstring aside;
  DWORD error = move_beside(path, path, L".old.", aside);
  if (error != ERROR_SUCCESS) return error;
  error = move_file(temporary, path);
  if (error != ERROR_SUCCESS) {
    move_file(aside, path);
    return error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS ? ERROR_SHARING_VIOLATION : error;
  }
  std::wstring old;
  ::DeleteFileW(move_beside(aside, path, L".tmp.", old) == ERROR_SUCCESS ? old.c_str() : aside.c_str());
  return ERROR_SUCCESS;
}

DWORD replace(const std::wstring& temporary, const std::wstring& path) {
  return retried([&]() -> DWORD {
    const DWORD error = move_file(temporary, path, MOVEFILE_REPLACE_EXISTING);
    const bool may_be_mapped = error == ERROR_ACCESS_DENIED || error == ERROR_USER_MAPPED_FILE || is_passing(error);
    if (!may_be_mapped || !is_file(path)) return error;
    const DWORD other = replace_mapped(temporary, path);
    // The directory does not let us, or somebody is about to close the file.
    const bool may_pass = other == ERROR_FILE_NOT_FOUND || other == ERROR_ACCESS_DENIED;
    return may_pass ? ERROR_SHARING_VIOLATION : other;
  });
}

}  // namespace

Status write_through_temporary(const std::wstring& path, bool is_private, std::string_view bytes) {
  PrivateAccess access;
  std::wstring temporary;
  Handle file;
  const DWORD failure = at_free_name(path, L".tmp.", temporary, [&]() -> DWORD {
    file = Handle(::CreateFileW(temporary.c_str(), GENERIC_WRITE, FILE_SHARE_READ, is_private ? access.get() : nullptr,
                                CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
    return file ? ERROR_SUCCESS : ::GetLastError();
  });
  if (code_of(failure) == Code::not_found) return {Code::io, "the directory does not exist"};
  if (!file) return io_failure("cannot create a temporary file beside it", failure);
  Status status = write_all(file.get(), bytes);
  file.close();
  if (status) {
    const DWORD error = replace(temporary, path);
    if (error == ERROR_SUCCESS) return remove_left_over(path), Status();
    status = io_failure("rename", error);
  }
  ::DeleteFileW(temporary.c_str());
  return status;
}

namespace {

Status write(const std::string& path, bool is_private, std::string_view bytes) {
  const Result<std::wstring> name = wide_path(path);
  const Status status = name ? write_through_temporary(*name, is_private, bytes) : name.status();
  return status.within(path);
}

}  // namespace
}  // namespace windows

// The system has no such call; renames are written through.
Status sync_directory_of(const std::string& /*path*/) { return {}; }

Status check_replaceable(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  const auto file = windows::open_existing(*name, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS);
  if (!file || windows::check_regular(file->get())) return {};
  return {Code::io, path + ": exists and is not a regular file; it stays as it is"};
}

Status write_file(const std::string& path, std::string_view bytes) {
  const Status status = check_replaceable(path);
  return status ? windows::write(path, false, bytes) : status;
}

Status write_private_file(const std::string& path, std::string_view bytes) { return windows::write(path, true, bytes); }

bool remove_file(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  return name && windows::remove(*name);
}

}  // namespace clbake::os
