#include <clbake/os/usage.hpp>

#include "windows/system.hpp"

#include <psapi.h>
#include <tlhelp32.h>
#include <algorithm>
#include <vector>

namespace clbake::os {
namespace {

std::int64_t ticks(const FILETIME& time) {
  return (static_cast<std::int64_t>(time.dwHighDateTime) << 32U) + time.dwLowDateTime;
}

// The accounts of the job that this process is in, as a child is (Child::start); zeros without one.
JOBOBJECT_BASIC_ACCOUNTING_INFORMATION job() {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION info = {};
  ::QueryInformationJobObject(nullptr, JobObjectBasicAccountingInformation, &info, sizeof info, nullptr);
  return info;
}

}  // namespace

std::chrono::microseconds processor_time() {
  FILETIME created = {}, ended = {}, kernel = {}, user = {};
  ::GetProcessTimes(::GetCurrentProcess(), &created, &ended, &kernel, &user);
  const JOBOBJECT_BASIC_ACCOUNTING_INFORMATION all = job();
  const std::int64_t whole = all.TotalKernelTime.QuadPart + all.TotalUserTime.QuadPart;
  return std::chrono::microseconds(std::max(ticks(kernel) + ticks(user), whole) / 10);
}

std::int64_t ended_children() {
  const JOBOBJECT_BASIC_ACCOUNTING_INFORMATION all = job();
  return static_cast<std::int64_t>(all.TotalProcesses) - all.ActiveProcesses;
}

std::set<std::int64_t> running_children() {
  std::set<std::int64_t> children;
  const windows::Handle list(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  PROCESSENTRY32W entry = {};
  entry.dwSize = sizeof entry;
  for (BOOL more = ::Process32FirstW(list.get(), &entry); more; more = ::Process32NextW(list.get(), &entry)) {
    if (entry.th32ParentProcessID == ::GetCurrentProcessId()) children.insert(entry.th32ProcessID);
  }
  return children;
}

std::set<std::string> loaded_libraries() {
  std::vector<HMODULE> modules(1024);
  DWORD bytes = 0;
  const auto room = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
  if (!::K32EnumProcessModules(::GetCurrentProcess(), modules.data(), room, &bytes)) return {};
  modules.resize(std::min<std::size_t>(modules.size(), bytes / sizeof(HMODULE)));
  std::set<std::string> paths;
  for (const HMODULE module : modules) {
    wchar_t path[1 << 12];
    const DWORD length = ::GetModuleFileNameW(module, path, static_cast<DWORD>(std::size(path)));
    if (module != ::GetModuleHandleW(nullptr)) paths.insert(windows::narrow({path, length}));
  }
  return paths;
}

}  // namespace clbake::os
