// The start of a process that is nobody's child; shared by the files of this folder.
#pragma once

#include <clbake/status.hpp>

#include <map>
#include <string>
#include <vector>

namespace clbake::os::posix {

// Returns the caller's end of the socket that the process has as its standard input; it is closed on exec. Fails with
// io.
Result<int> start_detached(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& environment);

// Sends a message: one byte that carries the file. Does not block. Returns 0 or the error's number.
int send_file(int socket, int file);

}  // namespace clbake::os::posix
