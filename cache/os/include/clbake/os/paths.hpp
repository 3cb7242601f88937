// Paths are UTF-8 in every interface, on every system; this is the one way to the standard library's type and back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace clbake::os {

// REQUIRES: UTF-8. On Windows a long path gets the form that has no limit of length.
std::filesystem::path native(std::string_view path);

// With "/" between its parts, on Windows, too. Bytes of a POSIX path that are no UTF-8 stay as they are.
std::string utf8(const std::filesystem::path& path);

extern const bool kHasShares;             // //server/share names a folder on another computer
extern const char kListSeparator;         // between the paths of a list, as in PATH
extern const char* const kProgramEnding;  // of the names of programs: "" or ".exe"

// The path from the root; as it is when the working directory cannot be told.
std::string absolute_path(const std::string& path);

// ---- Texts of paths, with "/" in the result; nothing here looks at a disk.

std::string parent_of(const std::string& path);     // "a/b" of "a/b/c.d"; empty for "c.d"
std::string file_name_of(const std::string& path);  // "c.d"
std::string stem_of(const std::string& path);       // "c"

// Without "." and with ".." only at its beginning.
std::string normal(const std::string& path);

// `name` in `folder`, normal(); `name` alone where it is absolute.
std::string joined_path(const std::string& folder, const std::string& name);

}  // namespace clbake::os
