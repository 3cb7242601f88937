#include <clbake/os/paths.hpp>

namespace clbake::os {

const char kListSeparator = ':';
const char* const kProgramEnding = "";

std::filesystem::path native(std::string_view path) { return std::filesystem::path(path); }

std::string utf8(const std::filesystem::path& path) { return path.string(); }

}  // namespace clbake::os
