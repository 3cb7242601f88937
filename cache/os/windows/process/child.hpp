// Shared by the files of this folder.
#pragma once

#include <clbake/os/child.hpp>

#include "windows/system.hpp"

#include <map>
#include <string>
#include <vector>

namespace clbake::os {

struct Child::Process {
  windows::Handle handle;
  windows::Handle job;  // with all that the child starts; nothing in it outlives this handle
};

namespace windows {

// The words of a command line as every program's start-up code takes them apart again. Fails with invalid_argument.
Result<std::wstring> command_line(const std::vector<std::string>& arguments);

// The block that CreateProcess takes. Of names that differ in case alone the first one counts; what is not UTF-8 is
// left out.
std::wstring environment_block(const std::map<std::string, std::string>& variables);

// An inheritable handle of a file; null with GetLastError otherwise.
Handle open_inheritable(const std::wstring& path, DWORD access, DWORD disposition);

// The form of a path that CreateProcess takes. Fails with invalid_argument.
Result<std::wstring> with_backslashes(Result<std::wstring> path);

// A name that no other pipe has.
std::wstring new_pipe_name();

// A suspended process with these inheritable handles and no others, from its first moment in the job (null: none), so
// that nothing is left where this process is killed meanwhile. `log` is its standard output and error; the launch's own
// log is not looked at. `flags`: further ones of CreateProcess. Fails with io, or invalid_argument for what is not
// UTF-8.
Result<PROCESS_INFORMATION> create(const Launch& launch, HANDLE input, HANDLE log, HANDLE job, DWORD flags);

// With `input`, an inheritable handle, as its standard input; null: nothing to read. Fails with io.
Result<Child> start(const Launch& launch, HANDLE input);

// A job whose processes die with the handle; `flags`: further JOB_OBJECT_LIMIT_*. Null with GetLastError otherwise.
Handle make_job(DWORD flags);

// Lets a suspended process run in the job, into which it puts it if the system did not create it there. False, with the
// process killed, when that fails.
bool run_in(const Handle& job, const PROCESS_INFORMATION& process);

Exit exit_of(HANDLE process);

}  // namespace windows
}  // namespace clbake::os
