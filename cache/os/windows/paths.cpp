#include <clbake/os/paths.hpp>

#include "windows/system.hpp"

namespace clbake::os {

const bool kHasShares = true;
const char kListSeparator = ';';
const char* const kProgramEnding = ".exe";

std::filesystem::path native(std::string_view path) {
  const Result<std::wstring> wide = windows::wide_path(path);
  return wide ? std::filesystem::path(*wide) : std::filesystem::path();
}

std::string utf8(const std::filesystem::path& path) { return windows::narrow_path(path.native()); }

std::string absolute_path(const std::string& path) {
  const Result<std::wstring> name = windows::utf16(path);
  const std::wstring full = name ? windows::full_path(*name) : std::wstring();
  return full.empty() ? path : windows::narrow_path(full);
}

}  // namespace clbake::os
