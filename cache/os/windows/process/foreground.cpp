#include <clbake/os/program.hpp>

#include "windows/process/child.hpp"

namespace clbake::os {
namespace {

BOOL WINAPI leave_to_the_child(DWORD event) { return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT; }

}  // namespace

// The program dies with this process, but what it leaves running does not.
Result<Exit> run_in_foreground(const std::vector<std::string>& arguments,
                               const std::map<std::string, std::string>& environment) {
  STARTUPINFOW info = {};
  info.cb = sizeof info;
  Result<std::wstring> line = windows::command_line(arguments);
  if (!line) return line.status();
  std::wstring block = windows::environment_block(environment);
  PROCESS_INFORMATION process = {};
  ::SetConsoleCtrlHandler(leave_to_the_child, TRUE);
  const windows::Handle job = windows::make_job(JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK);
  const bool runs =
      ::CreateProcessW(nullptr, line->data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT,
                       block.data(), nullptr, &info, &process) &&
      windows::run_in(job, process);
  const DWORD error = ::GetLastError();
  const windows::Handle handle(process.hProcess);
  if (runs) ::WaitForSingleObject(handle.get(), INFINITE);
  ::SetConsoleCtrlHandler(leave_to_the_child, FALSE);
  if (!runs) return {Code::io, windows::message_of(error)};
  return windows::exit_of(handle.get());
}

Status become(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
  const Result<Exit> exit = run_in_foreground(arguments, environment);
  if (!exit) return exit.status();
  ::TerminateProcess(::GetCurrentProcess(), static_cast<UINT>(status_of(*exit)));  // no driver's code runs any more
  return {Code::io, "the process does not end"};
}

}  // namespace clbake::os
