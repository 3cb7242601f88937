#include <clbake/os/program.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "posix/process/child.hpp"

namespace clbake::os {
namespace {

volatile ::pid_t child = 0;

void pass_on(int signal) {
  if (child > 0) ::kill(child, signal);
}

// The parent's part in signals, as long as this lives. Those that it was started to ignore, as by nohup, stay ignored.
class Signals {
 public:
  Signals() {
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    for (const int signal : {SIGINT, SIGQUIT}) ::sigaction(signal, &action, old(signal));
    action.sa_handler = pass_on;
    for (const int signal : {SIGTERM, SIGHUP}) {
      ::sigaction(signal, nullptr, old(signal));
      if (!was_ignored(signal)) ::sigaction(signal, &action, nullptr);
    }
  }
  ~Signals() {
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::sigaction(signal, old(signal), nullptr);
    child = 0;
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool was_ignored(int signal) const { return old_[signal].sa_handler == SIG_IGN; }

 private:
  struct sigaction* old(int signal) {
    return &old_[signal];
  }
  struct sigaction old_[32] = {};
};

// With the signals' actions from before this program began. Returns 0 or the error.
int spawn(const Signals& signals, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t own;
  ::sigemptyset(&own);
  ::sigaddset(&own, SIGXFSZ);
  for (const int signal : {SIGINT, SIGQUIT}) {
    if (!signals.was_ignored(signal)) ::sigaddset(&own, signal);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &own);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  ::pid_t started = 0;
  const int error = ::posix_spawnp(&started, arguments[0].c_str(), nullptr, &attributes,
                                   posix::pointers(arguments).data(), posix::pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  child = started;
  return error;
}

}  // namespace

Status become(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> assignments = posix::assignments(environment);
  const auto action = std::signal(SIGXFSZ, SIG_DFL);  // as it was before begin_program
  ::execvpe(arguments[0].c_str(), posix::pointers(arguments).data(), posix::pointers(assignments).data());
  const int error = errno;
  std::signal(SIGXFSZ, action);
  return {Code::io, std::strerror(error)};
}

Result<Exit> run_in_foreground(const std::vector<std::string>& arguments,
                               const std::map<std::string, std::string>& environment) {
  const Signals signals;
  const int error = spawn(signals, arguments, posix::assignments(environment));
  if (error != 0) return {Code::io, std::strerror(error)};
  return posix::wait_for(child);
}

}  // namespace clbake::os
