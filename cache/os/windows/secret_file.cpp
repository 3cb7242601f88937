#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {

Status create_file(const std::string& path, std::string_view bytes, Access access) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  windows::PrivateAccess user;
  windows::Handle file(::CreateFileW(name->c_str(), GENERIC_WRITE, 0, access == Access::user ? user.get() : nullptr,
                                     CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  const DWORD error = file ? ERROR_SUCCESS : ::GetLastError();
  if (error == ERROR_FILE_EXISTS) return {Code::invalid_argument, path + ": exists already"};
  if (!file) return windows::io_failure("cannot be created", error).within(path);
  const Status status = windows::write_all(file.get(), bytes);
  file.close();
  if (!status) ::DeleteFileW(name->c_str());
  return status.within(path);
}

Status read_secret(const std::string& path, std::string& text, std::size_t most_bytes) {
  const bool is_input = path == "-";
  windows::Handle opened;
  if (!is_input) {
    const Result<std::wstring> name = windows::wide_path(path);
    if (!name) return name.status().within(path);
    Result<windows::Handle> file = windows::open_existing(*name, GENERIC_READ);
    if (!file) return {file.status().code(), path + ": cannot be opened: " + file.status().message()};
    opened = std::move(*file);
  }
  HANDLE const file = is_input ? ::GetStdHandle(STD_INPUT_HANDLE) : opened.get();
  if (::GetFileType(file) == FILE_TYPE_DISK && windows::others_can_read(file)) {
    return {Code::invalid_argument, path + ": others than its owner may use this secret key: take their rights away"};
  }
  text.assign(most_bytes, '\0');
  std::size_t bytes = 0;
  DWORD got = 1;
  while (got > 0 && bytes < text.size()) {
    const auto left = static_cast<DWORD>(text.size() - bytes);
    const DWORD error = ::ReadFile(file, &text[bytes], left, &got, nullptr) ? ERROR_SUCCESS : ::GetLastError();
    if (error != ERROR_SUCCESS && error != ERROR_BROKEN_PIPE) return windows::io_failure("read", error).within(path);
    bytes += got;
  }
  text.resize(bytes);
  return {};
}

}  // namespace clbake::os
