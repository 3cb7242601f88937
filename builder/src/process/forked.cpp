#include "process/forked.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace clbake::builder {
namespace {

// The code in decimal, a blank, the message.
std::string line_of(const Status& status) {
  return std::to_string(static_cast<int>(status.code())) + " " + status.message();
}

[[noreturn]] void do_work(const std::function<Status()>& work, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string line = line_of(work());
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = write(output, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  std::fflush(nullptr);
  _exit(0);  // without the destructors of drivers
}

[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};  // the child has left one if there shall be one
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(WTERMSIG(status), SIG_DFL);
  std::raise(WTERMSIG(status));
  std::_Exit(1);
}

}  // namespace

Status run_forked(const std::function<Status()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {Code::io, std::string("pipe: ") + std::strerror(errno)};
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return {Code::io, std::string("fork: ") + std::strerror(errno)};
  if (pid == 0) {
    close(ends[0]);
    do_work(work, ends[1]);
  }
  close(ends[1]);
  std::string line;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    line.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::size_t blank = line.find(' ');
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || blank == std::string::npos) end_like(status);
  const auto code = static_cast<Code>(std::strtol(line.c_str(), nullptr, 10));
  return code == Code::ok ? Status() : Status(code, line.substr(blank + 1));
}

}  // namespace clbake::builder
