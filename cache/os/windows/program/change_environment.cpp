#include <clbake/os/environment.hpp>

#include "windows/system.hpp"

#include <cstdlib>
#include <cwchar>

namespace clbake::os {

// For the system's functions and for those of C, of which drivers use either.
bool set_variable(const std::string& name, const std::string& value) {
  const Result<std::wstring> wide_name = windows::utf16(name);
  const Result<std::wstring> wide_value = windows::utf16(value);
  if (!wide_name || !wide_value || name.empty() || name.find('=') != name.npos) return false;
  return ::_wputenv_s(wide_name->c_str(), wide_value->c_str()) == 0 &&
         ::SetEnvironmentVariableW(wide_name->c_str(), wide_value->c_str()) != 0;
}

bool unset_variable(const std::string& name) {
  const Result<std::wstring> wide_name = windows::utf16(name);
  if (!wide_name || name.empty() || name.find('=') != name.npos) return false;
  ::SetEnvironmentVariableW(wide_name->c_str(), nullptr);  // fails when it is not set
  return ::_wputenv_s(wide_name->c_str(), L"") == 0;
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> all;
  wchar_t* const block = ::GetEnvironmentStringsW();
  for (const wchar_t* item = block; item && *item; item += std::wcslen(item) + 1) {
    const std::wstring_view text = item;
    const std::size_t equals = text.find(L'=', 1);  // names of drives' directories begin with one
    if (equals == text.npos || text[0] == L'=') continue;
    all.emplace(windows::narrow(text.substr(0, equals)), windows::narrow(text.substr(equals + 1)));
  }
  if (block) ::FreeEnvironmentStringsW(block);
  return all;
}

}  // namespace clbake::os
