#include "posix/process/spawn_actions.hpp"

#include <dirent.h>
#include <cstdlib>

namespace clbake::os::posix {

#ifdef CLBAKE_SPAWN_CLOSES  // glibc 2.34

void close_from(posix_spawn_file_actions_t& actions, int first) {
  ::posix_spawn_file_actions_addclosefrom_np(&actions, first);
}

#else

void close_from(posix_spawn_file_actions_t& actions, int first) {
  ::DIR* const files = ::opendir("/proc/self/fd");
  if (!files) return;
  while (const ::dirent* entry = ::readdir(files)) {
    const int file = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));  // 0 of "."
    if (file >= first) ::posix_spawn_file_actions_addclose(&actions, file);
  }
  ::closedir(files);
}

#endif

#ifdef CLBAKE_SPAWN_CHANGES_DIRECTORY  // glibc 2.29, musl

void change_directory(posix_spawn_file_actions_t& actions, const std::string& directory,
                      std::vector<std::string>& /*arguments*/) {
  ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
}

#else

void change_directory(posix_spawn_file_actions_t& /*actions*/, const std::string& directory,
                      std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", directory};
  all.insert(all.end(), arguments.begin(), arguments.end());
  arguments = std::move(all);
}

#endif

}  // namespace clbake::os::posix
