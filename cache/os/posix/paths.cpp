#include <clbake/os/paths.hpp>

namespace clbake::os {

const bool kHasShares = false;
const char kListSeparator = ':';
const char* const kProgramEnding = "";

std::filesystem::path native(std::string_view path) { return std::filesystem::path(path); }

std::string utf8(const std::filesystem::path& path) { return path.string(); }

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.native();
}

}  // namespace clbake::os
