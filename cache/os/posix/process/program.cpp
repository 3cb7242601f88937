#include <clbake/os/program.hpp>

#include <limits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include "posix/process/parent.hpp"

namespace clbake::os {
namespace {

std::atomic<bool> signalled{false};

}  // namespace

std::vector<std::string> begin_program(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // where the parent ignores it, nobody is told how a child ended
  return argc > 0 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

const std::atomic<bool>& interrupted() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { signalled = true; });
  return signalled;
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* parent = std::getenv(posix::kParentVariable);  // the parent may have died before that call
  if (parent && parent != std::to_string(::getppid())) std::_Exit(1);
}

void lower_priority() {
  constexpr int kProcess = 1, kIdle = 3 << 13;  // of ioprio_set, which has no header
  static_cast<void>(::nice(19) + 1);
  static_cast<void>(::syscall(SYS_ioprio_set, kProcess, 0, kIdle) + 1);
}

std::string working_directory() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) ? std::string(path) : std::string();
}

bool change_directory(const std::string& path) { return ::chdir(path.c_str()) == 0; }

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

}  // namespace clbake::os
