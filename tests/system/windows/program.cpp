#include "system/program.hpp"

#include "windows/process/child.hpp"

#include <stdexcept>

namespace clbake::tests {
namespace {

constexpr UINT kKilled = 128 + 9;  // as on POSIX

HANDLE handle(std::intptr_t process) { return reinterpret_cast<HANDLE>(process); }

// A handle for children, that appends.
os::windows::Handle appended(const std::string& path) {
  return os::windows::open_inheritable(*os::windows::wide_path(path), FILE_APPEND_DATA | SYNCHRONIZE, OPEN_ALWAYS);
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                 const std::string& out, const std::string& err) {
  const os::windows::Handle nothing = os::windows::open_inheritable(L"NUL", GENERIC_READ, OPEN_EXISTING);
  const os::windows::Handle output = appended(out), error = appended(err);
  STARTUPINFOW info = {};
  info.cb = sizeof info;
  info.dwFlags = STARTF_USESTDHANDLES;
  info.hStdInput = nothing.get();
  info.hStdOutput = output.get();
  info.hStdError = error.get();
  std::wstring line = *os::windows::command_line(arguments), block = os::windows::environment_block(environment);
  PROCESS_INFORMATION process = {};
  if (!::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_UNICODE_ENVIRONMENT, block.data(), nullptr,
                        &info, &process)) {
    throw std::runtime_error("cannot start " + arguments[0]);
  }
  ::CloseHandle(process.hThread);
  process_ = reinterpret_cast<std::intptr_t>(process.hProcess);
}

Program::~Program() {
  kill();
  wait();
}

std::optional<int> Program::ended() {
  if (process_ != 0 && ::WaitForSingleObject(handle(process_), 0) == WAIT_TIMEOUT) return std::nullopt;
  return wait();
}

int Program::wait() {
  if (process_ == 0) return status_;
  ::WaitForSingleObject(handle(process_), INFINITE);
  status_ = os::status_of(os::windows::exit_of(handle(process_)));
  ::CloseHandle(handle(process_));
  process_ = 0;
  return status_;
}

void Program::kill() const {
  if (process_ != 0) ::TerminateProcess(handle(process_), kKilled);
}

void Program::send(int) const { throw std::logic_error("no signals"); }

}  // namespace clbake::tests
