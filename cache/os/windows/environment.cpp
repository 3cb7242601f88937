#include <clbake/os/environment.hpp>

#include "windows/system.hpp"

namespace clbake::os {

std::optional<std::string> variable(const std::string& name) {
  const Result<std::wstring> wide = windows::utf16(name);
  if (!wide) return std::nullopt;
  std::wstring value(256, L'\0');
  for (;;) {
    ::SetLastError(ERROR_SUCCESS);
    const DWORD size = ::GetEnvironmentVariableW(wide->c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (size == 0 && ::GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
    const bool fits = size < value.size();
    value.resize(size);
    if (fits) return windows::narrow(value);
  }
}

bool is_privileged() { return false; }

std::optional<std::string> trusted_variable(const std::string& name) { return variable(name); }

}  // namespace clbake::os
