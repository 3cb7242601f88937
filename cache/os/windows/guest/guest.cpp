#include <clbake/os/files.hpp>
#include <clbake/os/guest.hpp>

#include "windows/open.hpp"
#include "windows/security.hpp"

namespace clbake::os {

void keep_loaded(const void* address) {
  HMODULE module = nullptr;
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
  ::GetModuleHandleExW(flags, static_cast<const wchar_t*>(address), &module);
}

bool in_forked_children(void (*)()) { return true; }

void before_exit(void (*)()) {}

std::uint64_t process_id() { return ::GetCurrentProcessId(); }

Result<std::string> read_trusted_file(const std::string& path, std::uintmax_t most_bytes) {
  const Result<std::wstring> wide = windows::wide_path(path);
  if (!wide) return wide.status().within(path);
  {
    const Result<windows::Handle> file = windows::open_existing(*wide, READ_CONTROL);
    if (!file) return file.status().within(path);
    const Status trusted = windows::check_trusted(file->get());
    if (!trusted) return trusted.within(path);
  }
  return read_file(path, most_bytes);
}

}  // namespace clbake::os
