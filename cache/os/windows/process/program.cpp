#include <clbake/os/program.hpp>

#include <clbake/os/console.hpp>

#include "windows/system.hpp"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <csignal>
#include <cstdio>

namespace clbake::os {
namespace {

std::atomic<bool> signalled{false};

// Runs in a thread of its own. When the console closes, the system ends the process as soon as this returns.
BOOL WINAPI note_signal(DWORD event) {
  signalled = true;
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

// As the newer C runtimes do it: an exit status would look like a program's own.
void abort_with_exception(int) { ::TerminateProcess(::GetCurrentProcess(), 0xC0000409); }

}  // namespace

std::vector<std::string> begin_program(int, char**) {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  std::signal(SIGABRT, abort_with_exception);
  ::_setmode(::_fileno(stdout), _O_BINARY);  // lines end as on other systems
  ::_setmode(::_fileno(stderr), _O_BINARY);
  use_console();
  int count = 0;
  wchar_t** const words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; words && i < count; ++i) arguments.push_back(windows::exact(words[i]));
  ::LocalFree(words);
  return arguments;
}

const std::atomic<bool>& interrupted() {
  static const BOOL set = ::SetConsoleCtrlHandler(note_signal, TRUE);
  static_cast<void>(set);
  return signalled;
}

void end_with_parent() {}  // the job that Child::start puts a child into does it

void lower_priority() { ::SetPriorityClass(::GetCurrentProcess(), IDLE_PRIORITY_CLASS); }

std::string working_directory() {
  std::wstring path(::GetCurrentDirectoryW(0, nullptr), L'\0');
  path.resize(::GetCurrentDirectoryW(static_cast<DWORD>(path.size()), path.data()));
  return windows::narrow_path(path);
}

bool change_directory(const std::string& path) {
  const Result<std::wstring> name = windows::wide_path(path);
  return name && ::SetCurrentDirectoryW(name->c_str()) != 0;
}

std::string host_name() {
  wchar_t name[256] = {};
  auto length = static_cast<DWORD>(std::size(name));
  if (!::GetComputerNameExW(ComputerNameDnsHostname, name, &length) || length == 0) return "localhost";
  return windows::narrow({name, length});
}

}  // namespace clbake::os
