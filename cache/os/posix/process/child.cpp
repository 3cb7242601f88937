#include "posix/process/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "posix/process/parent.hpp"
#include "posix/process/spawn_actions.hpp"

namespace clbake::os {
namespace posix {

std::vector<std::string> assignments(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> texts;
  texts.reserve(variables.size());
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  return texts;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& s : strings) list.push_back(const_cast<char*>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

Status cannot_start(const std::string& program, int error) {
  return {Code::io, program + ": cannot start: " + std::strerror(error)};
}

Result<Child> start(const Launch& launch, int input) {
  const std::string& program = launch.arguments.front();
  // Asked here, too: an emulator's posix_spawn does not tell.
  if (launch.directory.empty() && ::access(program.c_str(), X_OK) != 0) return cannot_start(program, errno);
  std::map<std::string, std::string> variables = launch.environment;
  variables[kParentVariable] = std::to_string(::getpid());
  const std::vector<std::string> environment = assignments(variables);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  if (input >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_addopen(&actions, 1, launch.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  close_from(actions, 3);  // files that this process's drivers opened
  std::vector<std::string> arguments = launch.arguments;
  if (!launch.directory.empty()) change_directory(actions, launch.directory, arguments);
  if (launch.own_group) ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::pid_t id = 0;
  const int error = ::posix_spawn(&id, arguments.front().c_str(), &actions, &attributes, pointers(arguments).data(),
                                  pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return cannot_start(program, error);
  return Child(std::make_unique<Child::Process>(Child::Process{id, launch.own_group}));
}

Exit wait_for(::pid_t child) {
  int status = 0;
  ::pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  Exit exit;
  if (ended < 0) exit.code = Exit::kUnknown;
  if (ended >= 0 && WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  if (ended >= 0 && WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  return exit;
}

namespace {

// gone: ended, and its number may be another process's, since the caller ignores SIGCHLD.
enum class State { running, ended, gone };

State state_of(::pid_t child) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<::id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return errno == ECHILD ? State::gone : State::running;
  }
  return info.si_pid == child ? State::ended : State::running;
}

}  // namespace

}  // namespace posix

std::string describe(const Exit& exit) {
  if (exit.code == Exit::kUnknown) return "ended in an unknown way, as the program ignores SIGCHLD";
  if (exit.signal == 0) return "exit status " + std::to_string(exit.code);
  return "killed by signal " + std::to_string(exit.signal) + " (" + ::strsignal(exit.signal) + ")";
}

bool was_killed(const Exit& exit) { return exit.signal == SIGKILL; }

int status_of(const Exit& exit) { return exit.signal != 0 ? 128 + exit.signal : exit.code; }

Result<Child> Child::start(const Launch& launch) { return posix::start(launch, -1); }

Child::Child(std::unique_ptr<Process> process) : process_(std::move(process)) {}

Child::Child(Child&& other) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  return *this;
}

Child::~Child() { kill(); }

bool Child::has_ended() const { return process_ && posix::state_of(process_->id) != posix::State::running; }

std::optional<Exit> Child::ended() {
  if (!has_ended()) return std::nullopt;
  return kill();  // its own children, before the system can reuse the id
}

Exit Child::kill() {
  if (!process_) return {};
  if (posix::state_of(process_->id) != posix::State::gone) {
    if (process_->own_group) ::kill(-process_->id, SIGKILL);
    ::kill(process_->id, SIGKILL);  // under an emulator it may not have its group yet
  }
  const Exit exit = posix::wait_for(process_->id);
  process_.reset();
  return exit;
}

std::chrono::nanoseconds Child::processor_time() const {
  ::clockid_t clock{};
  ::timespec time{};
  if (!process_ || ::clock_getcpuclockid(process_->id, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace clbake::os
