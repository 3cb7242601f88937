// Directories that the system gives a user.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::os {

// The directory for what the user's programs can make again: XDG_CACHE_HOME or HOME/.cache, on Windows LOCALAPPDATA.
// May not exist yet. Fails with not_found when no variable is an absolute path, or the process has more rights than its
// user: whoever starts it would choose what it reads.
Result<std::string> user_cache_directory();

// True for a path that means the same in every working directory.
bool is_absolute(const std::string& path);

// `path` as it is read in `folder`, a text that ends in "/" or is empty. On Windows "/x" begins at the folder's drive.
std::string path_in(const std::string& folder, const std::string& path);

// False when `name` would lead elsewhere than to a file or directory right in the one it is looked up in.
bool is_plain_name(const std::string& name);

}  // namespace clbake::os
