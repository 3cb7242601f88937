// The running program, as its main and its verbs see it. For programs, not for libraries in them.
#pragma once

#include <clbake/status.hpp>

#include <clbake/os/child.hpp>

#include <atomic>
#include <map>
#include <string>
#include <vector>

namespace clbake::os {

// The first call of main: the arguments, without the program's name. From now on a write to a file that reaches a limit
// fails instead of killing the process; on Windows no window opens when the process crashes.
std::vector<std::string> begin_program(int argc, char** argv);

// Becomes true when somebody interrupts the process (Ctrl-C) or asks it to end; from the first call on it goes on then.
const std::atomic<bool>& interrupted();

// For a child that Child::start started: it is killed when its parent dies, at once if that has happened already.
void end_with_parent();

// Runs a program in the place of this one, which has begun: with its standard streams, and its process on POSIX; on
// Windows this process waits, and ends as the program does. arguments[0] is looked up in PATH unless it is a path.
// Returns only when it fails, with io; the message is the system's.
Status become(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment);

// Runs a program, as `become` finds it, and waits. The terminal's signals reach the program and not this process, which
// passes on those that ask it to end. Fails with io; the message is the system's.
Result<Exit> run_in_foreground(const std::vector<std::string>& arguments,
                               const std::map<std::string, std::string>& environment);

// Processor time and the disk that nobody else wants. Best effort.
void lower_priority();

// Empty when it is gone.
std::string working_directory();

// False when there is no such directory.
bool change_directory(const std::string& path);

// The machine's; "localhost" when it has none.
std::string host_name();

}  // namespace clbake::os
