// Opening and replacing files by their wide paths. Failures name nothing.
#pragma once

#include <clbake/os/files.hpp>

#include "windows/system.hpp"

namespace clbake::os::windows {

// "<path>.tmp.<process>.<number>" and the like: never the same twice in one process.
std::wstring beside(const std::wstring& path, const wchar_t* kind);

// Calls `step` (an error or ERROR_SUCCESS) with another `name` beside `path` until none has that name: a killed process
// that had our id may have left its files behind.
template <typename Step>
DWORD at_free_name(const std::wstring& path, const wchar_t* kind, std::wstring& name, Step step) {
  for (;;) {
    name = beside(path, kind);
    const DWORD error = step();
    if (error != ERROR_FILE_EXISTS && error != ERROR_ALREADY_EXISTS) return error;
  }
}

// Renames. ERROR_SUCCESS or the failure.
DWORD move_file(const std::wstring& from, const std::wstring& to, DWORD flags = 0);

// Renames to a free `name` beside `path`.
DWORD move_beside(const std::wstring& from, const std::wstring& path, const wchar_t* kind, std::wstring& name);

// Opens what is there, so that others may still replace and remove it. A file that a killed writer had just moved aside
// is put back first. Fails with not_found or io.
Result<Handle> open_existing(const std::wstring& path, DWORD access, DWORD flags = 0);

// Fails unless it is a regular file.
Status check_regular(HANDLE file);

Result<Mapping> map(const std::wstring& path);

// The whole of write_file; private: for the process's user alone.
Status write_through_temporary(const std::wstring& path, bool is_private, std::string_view bytes);

Status write_all(HANDLE file, std::string_view bytes);

// Removes what killed writers of `path` left beside it: the file that it replaced, and temporary ones that are older
// than an hour. Best effort.
void remove_left_over(const std::wstring& path);

// Removes a file; one that is mapped gets a temporary name, by which it is removed later. False when that fails.
bool remove(const std::wstring& path);

// False when nothing is there, or a directory.
bool is_file(const std::wstring& path);

// Seconds since the time.
std::int64_t age_seconds(const FILETIME& time);

}  // namespace clbake::os::windows
