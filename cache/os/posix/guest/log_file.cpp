#include <clbake/os/guest.hpp>

#include "posix/own_descriptor.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

namespace clbake::os {
namespace {

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

void write_line(int file, std::string_view line) {
  const NoPipeSignal no_signal;
  if (file >= 0) static_cast<void>(!::write(file, line.data(), line.size()));
}

}  // namespace

struct LogFile::Stream {
  posix::OwnDescriptor copy;  // as programs close their standard streams
};

Result<LogFile> LogFile::to_stderr() {
  auto stream = std::make_unique<Stream>();
  if (stream->copy.take(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1))) {
    return LogFile({}, std::move(stream));
  }
  return {Code::io, std::string("stderr: ") + std::strerror(errno)};
}

void LogFile::write(std::string_view line) const noexcept {
  if (stream_) return write_line(stream_->copy.number(), line);
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  const int file = posix::above_standard_streams(::open(path_.c_str(), kAppend, 0600));
  write_line(file, line);
  if (file >= 0) ::close(file);
}

}  // namespace clbake::os
