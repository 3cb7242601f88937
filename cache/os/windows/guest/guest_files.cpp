#include <clbake/os/guest_files.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {
namespace {

DWORD create_new(const std::wstring& path, DWORD access, windows::Handle& file) {
  constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  windows::PrivateAccess user;
  file = windows::Handle(
      ::CreateFileW(path.c_str(), access, kShareAll, user.get(), CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  return file ? ERROR_SUCCESS : ::GetLastError();
}

DWORD write_bytes(HANDLE file, std::string_view bytes) {
  DWORD written = 0;
  const auto size = static_cast<DWORD>(bytes.size());
  return ::WriteFile(file, bytes.data(), size, &written, nullptr) ? ERROR_SUCCESS : ::GetLastError();
}

DWORD set_size(HANDLE file, std::size_t bytes) {
  FILE_END_OF_FILE_INFO end = {};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const bool done = ::SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof end) != 0;
  return done ? ERROR_SUCCESS : ::GetLastError();
}

Status failure(const std::string& path, DWORD error) { return {Code::io, path + ": " + windows::message_of(error)}; }

}  // namespace

struct GuestFile::File {
  windows::Handle handle;
};

GuestFile::GuestFile() : file_(std::make_unique<File>()) {}
GuestFile::~GuestFile() = default;

Status GuestFile::create(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  const DWORD error = create_new(*name, FILE_APPEND_DATA, file_->handle);
  if (error == ERROR_FILE_EXISTS) return {Code::invalid_argument, path + ": exists already"};
  path_ = path;
  return error == ERROR_SUCCESS ? Status() : failure(path, error);
}

bool GuestFile::is_open() const noexcept { return static_cast<bool>(file_->handle); }

Status GuestFile::append(std::string_view bytes) const {
  const DWORD error = write_bytes(file_->handle.get(), bytes);
  return error == ERROR_SUCCESS ? Status() : failure(path_, error);
}

void make_guest_directory(const std::string& path) {
  windows::PrivateAccess user;
  const Result<std::wstring> name = windows::wide_path(path);
  if (name) ::CreateDirectoryW(name->c_str(), user.get());
}

Status write_guest_file(const std::string& path, std::string_view bytes) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  std::wstring temporary;
  windows::Handle file;
  DWORD error =
      windows::at_free_name(*name, L".tmp.", temporary, [&] { return create_new(temporary, GENERIC_WRITE, file); });
  if (error != ERROR_SUCCESS) return failure(path, error);
  error = write_bytes(file.get(), bytes.substr(0, bytes.find_last_not_of('\0') + 1));
  if (error == ERROR_SUCCESS) error = set_size(file.get(), bytes.size());
  file.close();
  if (error == ERROR_SUCCESS) {
    error = windows::retried([&] { return windows::move_file(temporary, *name, MOVEFILE_REPLACE_EXISTING); });
  }
  if (error == ERROR_SUCCESS) return {};
  ::DeleteFileW(temporary.c_str());
  return failure(path, error);
}

std::uint64_t room_of_files(const std::string& directory) {
  const Result<std::wstring> name = windows::wide_path(directory + "/*");
  WIN32_FIND_DATAW item = {};
  const HANDLE listing = name ? ::FindFirstFileW(name->c_str(), &item) : INVALID_HANDLE_VALUE;
  if (listing == INVALID_HANDLE_VALUE) return 0;
  std::uint64_t bytes = 0;
  do {
    const bool is_file = !(item.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT));
    if (is_file) bytes += std::uint64_t{item.nFileSizeHigh} << 32U | item.nFileSizeLow;
  } while (::FindNextFileW(listing, &item));
  ::FindClose(listing);
  return bytes;
}

}  // namespace clbake::os
