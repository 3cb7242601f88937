#include "log.hpp"

#include "posix/own_descriptor.hpp"

#include <csignal>

#include <algorithm>
#include <ctime>

namespace clbake::layer {
namespace {

// Never destroyed: a driver's thread may still report when the process ends.
struct Log {
  std::string path;                    // opened for each line, so that no descriptor can become the program's
  os::posix::OwnDescriptor to_stderr;  // a copy, as programs close their standard streams
};

Log*& the_log() {
  static Log* only = nullptr;
  return only;
}

// While it lives, a write into a pipe without reader raises no signal in this thread.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~NoPipeSignal() {
    const timespec now = {};
    if (!was_pending_) static_cast<void>(::sigtimedwait(&pipe_, nullptr, &now));
    ::pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, old_;
  bool was_pending_;
};

void write_line(int file, const std::string& line) {
  const NoPipeSignal no_signal;
  if (file >= 0) static_cast<void>(!::write(file, line.data(), line.size()));
}

}  // namespace

void open_log(const std::string& where) {
  if (where.empty()) return;
  the_log() = new Log;
  if (where != "stderr") {
    the_log()->path = where;
  } else if (!the_log()->to_stderr.take(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))) {
    the_log() = nullptr;
  }
}

bool logs() noexcept { return the_log() != nullptr; }

void log(const std::string& message) noexcept {
  if (!logs()) return;
  try {
    std::string line = "clbake: " + message;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    const std::string& path = the_log()->path;
    if (path.empty()) return write_line(the_log()->to_stderr.number(), line);
    const int file = os::posix::above_standard_streams(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
    write_line(file, line);
    if (file >= 0) ::close(file);
  } catch (...) {  // no memory for a line
  }
}

}  // namespace clbake::layer
