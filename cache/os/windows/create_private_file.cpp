#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {

Status create_private_file(const std::string& path, std::string_view bytes) {
  const Result<std::wstring> name = windows::wide_path(path);
  if (!name) return name.status().within(path);
  windows::PrivateAccess access;
  windows::Handle file(
      ::CreateFileW(name->c_str(), GENERIC_WRITE, 0, access.get(), CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) return windows::io_failure("cannot be created", ::GetLastError()).within(path);
  const Status status = windows::write_all(file.get(), bytes);
  file.close();
  if (!status) ::DeleteFileW(name->c_str());
  return status.within(path);
}

}  // namespace clbake::os
