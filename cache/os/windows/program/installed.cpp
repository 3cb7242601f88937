#include <clbake/os/environment.hpp>
#include <clbake/os/installed.hpp>

#include "windows/open.hpp"

namespace clbake::os {
namespace {

constexpr const wchar_t* kVendors = L"SOFTWARE\\Khronos\\OpenCL\\Vendors";

// The parts of a list that ";" separates.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find(';', at);
    if (end > at) parts.push_back(list.substr(at, end == list.npos ? end : end - at));
    at = end == list.npos ? end : end + 1;
  }
  return parts;
}

}  // namespace

std::string find_program(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> directories = parts_of(variable("PATH").value_or(""));
  directories.insert(directories.end(), more.begin(), more.end());
  for (const std::string& directory : directories) {
    const Result<std::wstring> path = windows::wide_path(directory + "/" + name + ".exe");
    if (!path || !windows::is_file(*path)) continue;
    return windows::narrow_path(windows::full_path(*path));
  }
  return {};
}

// The values' names are the libraries; 0 switches one on.
std::vector<OpenclDriver> opencl_drivers() {
  std::vector<OpenclDriver> drivers;
  for (const std::string& library : parts_of(variable("OCL_ICD_FILENAMES").value_or(""))) {
    drivers.push_back({library, "OCL_ICD_FILENAMES"});
  }
  HKEY key = nullptr;
  if (::RegOpenKeyExW(HKEY_LOCAL_MACHINE, kVendors, 0, KEY_QUERY_VALUE, &key) != ERROR_SUCCESS) return drivers;
  std::vector<wchar_t> name(16384);
  for (DWORD i = 0;; ++i) {
    auto length = static_cast<DWORD>(name.size());
    DWORD value = 1, size = sizeof value, type = 0;
    const LSTATUS status =
        ::RegEnumValueW(key, i, name.data(), &length, nullptr, &type, reinterpret_cast<BYTE*>(&value), &size);
    if (status == ERROR_NO_MORE_ITEMS) break;
    if (status != ERROR_SUCCESS || type != REG_DWORD || value != 0) continue;
    drivers.push_back({windows::narrow({name.data(), length}), "HKEY_LOCAL_MACHINE\\" + windows::narrow(kVendors)});
  }
  ::RegCloseKey(key);
  return drivers;
}

}  // namespace clbake::os
