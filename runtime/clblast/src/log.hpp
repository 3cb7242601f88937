// The environment variables of this component, which CLBLAST.md lists, and the log file that CLBAKE_CLBLAST_LOG names.
#pragma once

#include <string>

namespace clbake::door {

// The variable's value; empty when it is not set. Also empty when the process has more rights than its user, as the
// variables name code.
std::string environment(const char* name);

// Adds one line to the file, with the process before it; nothing when there is none. Any thread. Best effort.
void log(const std::string& line);

}  // namespace clbake::door
