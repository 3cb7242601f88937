// Shared by the files of this folder.
#pragma once

#include <clbake/os/child.hpp>

#include <sys/types.h>
#include <map>
#include <string>
#include <vector>

namespace clbake::os {

struct Child::Process {
  ::pid_t id = 0;
  bool own_group = true;
};

namespace posix {

// With the open file `input` as its standard input; -1: nothing to read. Fails with io.
Result<Child> start(const Launch& launch, int input);

// Io, with the system's word for `error`.
Status cannot_start(const std::string& program, int error);

// Waits until the child has ended. Whoever ignores SIGCHLD is not told how it did: see Exit.
Exit wait_for(::pid_t child);

// "NAME=value".
std::vector<std::string> assignments(const std::map<std::string, std::string>& variables);

// Ends with a null pointer. As long as the strings live.
std::vector<char*> pointers(const std::vector<std::string>& strings);

}  // namespace posix
}  // namespace clbake::os
