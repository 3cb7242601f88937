#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace clbake::door {
std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

void log(const std::string& line) {
  // Closed by the end of the process.
  static const int file = [path = environment("CLBAKE_CLBLAST_LOG")] {
    return path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }();
  if (file < 0) return;
  const std::string text = "clbake-clblast[" + std::to_string(getpid()) + "]: " + line + "\n";
  // One call, so that lines of several threads and processes stay whole.
  static_cast<void>(!write(file, text.data(), text.size()));
}

}  // namespace clbake::door
