#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

namespace clbake::layer {
namespace {

int descriptor = -1;

}  // namespace

void open_log(const std::string& where) {
  if (where.empty()) return;
  // A copy, as programs close their standard streams.
  descriptor = where == "stderr" ? ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : ::open(where.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

bool logs() noexcept { return descriptor >= 0; }

void log(const std::string& message) noexcept {
  if (descriptor < 0) return;
  try {
    std::string line = "clbake: " + message;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    static_cast<void>(!::write(descriptor, line.data(), line.size()));
  } catch (...) {  // no memory for a line
  }
}

}  // namespace clbake::layer
