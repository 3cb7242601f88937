#include "system/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <csignal>
#include <stdexcept>

namespace clbake::tests {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& s : strings) list.push_back(s.data());
  list.push_back(nullptr);
  return list;
}

int exit_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                 const std::string& out, const std::string& err) {
  std::vector<std::string> words = arguments, variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  process_ = pid;
}

Program::~Program() {
  if (ended()) return;
  kill();
  wait();
}

std::optional<int> Program::ended() {
  int status = 0;
  if (process_ == 0) return status_;
  if (waitpid(static_cast<pid_t>(process_), &status, WNOHANG) != process_) return std::nullopt;
  process_ = 0;
  return status_ = exit_status(status);
}

int Program::wait() {
  int status = 0;
  if (process_ == 0) return status_;
  if (waitpid(static_cast<pid_t>(process_), &status, 0) != process_) throw std::runtime_error("waitpid");
  process_ = 0;
  return status_ = exit_status(status);
}

void Program::kill() const { send(SIGKILL); }

void Program::send(int signal) const {
  if (process_ != 0) ::kill(static_cast<pid_t>(process_), signal);
}

}  // namespace clbake::tests
