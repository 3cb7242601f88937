#include <clbake/os/guest.hpp>

#include "windows/system.hpp"

#include <algorithm>

namespace clbake::os {

const bool kInterposes = false;

std::string exported_name(const void*) { return {}; }

void* next_function(const std::string&) { return nullptr; }

LibraryHandle find_library(const std::string& name) {
  Result<std::wstring> wide = windows::wide_path(name);
  if (!wide) return nullptr;
  std::replace(wide->begin(), wide->end(), L'/', L'\\');
  return ::GetModuleHandleW(wide->c_str());
}

bool in_one_module(const void* address, const void* other) {
  const std::string path = path_of_module(address);
  return !path.empty() && path == path_of_module(other);
}

}  // namespace clbake::os
