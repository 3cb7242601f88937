#include "system/kills.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace clbake::tests {

std::size_t kills_wanted(std::size_t quick) {
  const char* wanted = std::getenv("CLBAKE_KILLS");
  return wanted ? std::strtoul(wanted, nullptr, 10) : quick;
}

void show_kills(std::size_t done, std::size_t all) {
  if (done % 1000 == 0) std::fprintf(stderr, "%zu of %zu processes killed\n", done, all);
}

std::size_t run_and_kill(const std::function<void(int)>& work, unsigned most_us, unsigned seed) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    work(ends[1]);
    ::_exit(0);
  }
  ::setpgid(child, child);  // whoever comes first
  ::close(ends[1]);
  ::usleep(static_cast<unsigned>(std::mt19937(seed)() % (most_us + 1)));
  ::kill(-child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::size_t steps = 0;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) ++steps;
  ::close(ends[0]);
  return steps;
}

}  // namespace clbake::tests
