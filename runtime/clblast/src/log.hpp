// The log file that CLBAKE_CLBLAST_LOG names.
#pragma once

#include <string>

namespace clbake::door {

// Adds one line to the file, with the process before it; nothing when there is none. Any thread. Best effort.
void log(const std::string& line);

}  // namespace clbake::door
