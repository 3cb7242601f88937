// Actions of a new process that not every C library's posix_spawn has.
#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace clbake::os::posix {

// Closes all files from this one on. Where the C library cannot, those that are open now.
void close_from(posix_spawn_file_actions_t& actions, int first);

// Changes the process' directory, after all other actions. Where the C library cannot, a shell does: `arguments`
// become its own.
void change_directory(posix_spawn_file_actions_t& actions, const std::string& directory,
                      std::vector<std::string>& arguments);

}  // namespace clbake::os::posix
