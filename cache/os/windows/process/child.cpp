#include "windows/process/child.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace clbake::os {
namespace windows {
namespace {

constexpr DWORD kKilled = 0xC000010A;    // "an attempt was made to access an exiting process": no program ends so
constexpr DWORD kLongestDeathMs = 5000;  // of processes that were killed
constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// The names of those exceptions by which programs end.
const char* name_of(DWORD exception) {
  switch (exception) {
    case 0x80000003: return "breakpoint";
    case 0xC0000005: return "access violation";
    case 0xC0000006: return "a file in memory cannot be read";
    case 0xC0000017: return "out of memory";
    case 0xC000001D: return "illegal instruction";
    case 0xC0000094: return "integer division by zero";
    case 0xC00000FD: return "stack overflow";
    case 0xC0000135: return "a DLL is missing";
    case 0xC0000139: return "a DLL lacks a function";
    case 0xC000013A: return "Ctrl-C";
    case 0xC0000142: return "a DLL cannot be initialized";
    case 0xC0000374: return "heap corruption";
    case 0xC0000409: return "aborted";
    case 0xE06D7363: return "C++ exception";
    default: return nullptr;
  }
}

// Severity "error" or "warning" without the bit that numbers of -1 and the like have, too.
bool is_exception(DWORD code) { return code >> 28U == 0x8 || code >> 28U == 0xC || code >> 28U == 0xE; }

// The handles that a child inherits, no others, and the job that it begins in.
class Attributes {
 public:
  Attributes(std::array<HANDLE, 2> handles, HANDLE job) : handles_(handles), job_(job) {
    SIZE_T bytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, 2, 0, &bytes);
    storage_.resize(bytes);
    ::InitializeProcThreadAttributeList(list(), 2, 0, &bytes);
    add(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(), sizeof handles_);
    if (job_) add(PROC_THREAD_ATTRIBUTE_JOB_LIST, &job_, sizeof job_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::DeleteProcThreadAttributeList(list()); }

  LPPROC_THREAD_ATTRIBUTE_LIST list() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(storage_.data()); }

 private:
  void add(DWORD_PTR attribute, void* value, SIZE_T bytes) {
    ::UpdateProcThreadAttribute(list(), 0, attribute, value, bytes, nullptr, nullptr);
  }

  std::array<HANDLE, 2> handles_;
  HANDLE job_;
  std::vector<char> storage_;
};

bool has_processes(const Handle& job) {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION info = {};
  return ::QueryInformationJobObject(job.get(), JobObjectBasicAccountingInformation, &info, sizeof info, nullptr) &&
         info.ActiveProcesses > 0;
}

std::chrono::nanoseconds duration(const FILETIME& time) {
  return std::chrono::nanoseconds(100) * ((static_cast<std::int64_t>(time.dwHighDateTime) << 32U) + time.dwLowDateTime);
}

}  // namespace

Result<PROCESS_INFORMATION> create(const Launch& launch, HANDLE input, HANDLE log, HANDLE job, DWORD flags) {
  Attributes attributes({input, log}, job);
  STARTUPINFOEXW info = {};
  info.StartupInfo.cb = sizeof info;
  info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  info.StartupInfo.hStdInput = input;
  info.StartupInfo.hStdOutput = log;
  info.StartupInfo.hStdError = log;
  info.lpAttributeList = attributes.list();
  const Result<std::wstring> executable = with_backslashes(wide_path(launch.arguments.front()));
  const Result<std::wstring> directory = with_backslashes(utf16(launch.directory));
  const Result<std::wstring> line = command_line(launch.arguments);
  for (const Result<std::wstring>* text : {&executable, &directory, &line}) {
    if (!*text) return text->status();
  }
  std::wstring environment = environment_block(launch.environment);
  flags |= CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT |
           (launch.own_group ? CREATE_NEW_PROCESS_GROUP : 0);
  PROCESS_INFORMATION process = {};
  const BOOL started = ::CreateProcessW(executable->c_str(), std::wstring(*line).data(), nullptr, nullptr, TRUE, flags,
                                        environment.data(), directory->empty() ? nullptr : directory->c_str(),
                                        &info.StartupInfo, &process);
  if (!started) return {Code::io, message_of(::GetLastError())};
  return process;
}

Handle open_inheritable(const std::wstring& path, DWORD access, DWORD disposition) {
  SECURITY_ATTRIBUTES inheritable = {sizeof inheritable, nullptr, TRUE};
  return Handle(
      ::CreateFileW(path.c_str(), access, kShared, &inheritable, disposition, FILE_ATTRIBUTE_NORMAL, nullptr));
}

Handle make_job(DWORD flags) {
  Handle job(::CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | flags;
  const bool set =
      job && ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return set ? std::move(job) : Handle();
}

bool run_in(const Handle& job, const PROCESS_INFORMATION& process) {
  BOOL is_in = FALSE;
  const bool runs = job && ::IsProcessInJob(process.hProcess, job.get(), &is_in) &&
                    (is_in || ::AssignProcessToJobObject(job.get(), process.hProcess)) &&
                    ::ResumeThread(process.hThread) != static_cast<DWORD>(-1);
  const DWORD error = ::GetLastError();
  if (!runs) ::TerminateProcess(process.hProcess, kKilled);
  ::CloseHandle(process.hThread);
  ::SetLastError(error);
  return runs;
}

Result<Child> start(const Launch& launch, HANDLE input) {
  const std::string name = launch.arguments.front() + ": cannot start";
  const Handle nothing = open_inheritable(L"NUL", GENERIC_READ, OPEN_EXISTING);
  const Result<std::wstring> path = wide_path(launch.log);
  const Handle log = open_inheritable(path ? *path : L"", GENERIC_WRITE, CREATE_ALWAYS);
  if (!log) return io_failure(launch.log.c_str()).within(name);
  auto child = std::make_unique<Child::Process>();
  child->job = make_job(0);
  const Result<PROCESS_INFORMATION> process =
      create(launch, input ? input : nothing.get(), log.get(), child->job.get(), 0);
  if (!process) return process.status().within(name);
  child->handle = Handle(process->hProcess);
  if (!run_in(child->job, *process)) return io_failure("its job").within(name);
  return Child(std::move(child));
}

Exit exit_of(HANDLE process) {
  DWORD code = 0;
  ::GetExitCodeProcess(process, &code);
  Exit exit;
  (is_exception(code) ? exit.signal : exit.code) = static_cast<int>(code);
  return exit;
}

}  // namespace windows

std::string describe(const Exit& exit) {
  if (exit.signal == 0) return "exit status " + std::to_string(exit.code);
  if (was_killed(exit)) return "killed";
  const auto exception = static_cast<DWORD>(exit.signal);
  char number[16];
  std::snprintf(number, sizeof number, "0x%08lx", exception);
  const char* const name = windows::name_of(exception);
  return std::string("ended by exception ") + number + (name ? std::string(" (") + name + ")" : "");
}

bool was_killed(const Exit& exit) { return static_cast<DWORD>(exit.signal) == windows::kKilled; }

int status_of(const Exit& exit) { return exit.signal != 0 ? exit.signal : exit.code; }

Result<Child> Child::start(const Launch& launch) { return windows::start(launch, nullptr); }

Child::Child(std::unique_ptr<Process> process) : process_(std::move(process)) {}

Child::Child(Child&& other) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  return *this;
}

Child::~Child() { kill(); }

bool Child::has_ended() const { return process_ && ::WaitForSingleObject(process_->handle.get(), 0) == WAIT_OBJECT_0; }

std::optional<Exit> Child::ended() {
  if (!has_ended()) return std::nullopt;
  return kill();
}

// Waits for all of them: nobody can remove the files that they have open.
Exit Child::kill() {
  if (!process_) return {};
  ::TerminateJobObject(process_->job.get(), windows::kKilled);
  ::WaitForSingleObject(process_->handle.get(), INFINITE);
  for (DWORD ms = 0; ms < windows::kLongestDeathMs && windows::has_processes(process_->job); ++ms) ::Sleep(1);
  const Exit exit = windows::exit_of(process_->handle.get());
  process_.reset();
  return exit;
}

std::chrono::nanoseconds Child::processor_time() const {
  FILETIME created = {}, ended = {}, kernel = {}, user = {};
  if (!process_ || !::GetProcessTimes(process_->handle.get(), &created, &ended, &kernel, &user)) return {};
  return windows::duration(kernel) + windows::duration(user);
}

}  // namespace clbake::os
