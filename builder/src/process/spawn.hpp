// Starts child processes, for process.cpp and line_channel.cpp.
#pragma once

#include <clbake/builder/process.hpp>

#include <sys/types.h>

namespace clbake::builder::process {

// Starts the command, with the open file `standard_input` as its standard input (-1: nothing to read). In a process
// group of its own unless it is `with_caller`. Fails with io.
Result<pid_t> spawn(const Command& command, int standard_input = -1);

// The status from waitpid.
Exit exit_of(int wait_status);

}  // namespace clbake::builder::process
