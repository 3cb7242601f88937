#include "system/self.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

namespace clbake::tests {

std::int64_t own_id() { return ::getpid(); }

std::int64_t parent_id() { return ::getppid(); }

void crash() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

const char* const kCrashed = "killed by signal 6";

}  // namespace clbake::tests
