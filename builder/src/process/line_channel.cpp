#include "process/line_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace clbake::builder::process {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // a working child sends far less

std::optional<std::string> take_line(std::string& received) {
  const std::size_t end = received.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

void send_line(int socket, const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

Result<LineChannel> LineChannel::start(const Command& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return {Code::io, std::string("socketpair: ") + std::strerror(errno)};
  }
  const Result<pid_t> pid = spawn(command, ends[1]);
  close(ends[1]);
  if (!pid) {
    close(ends[0]);
    return pid.status();
  }
  return LineChannel(ends[0], *pid);
}

LineChannel::LineChannel(LineChannel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      pid_(std::exchange(other.pid_, 0)),
      received_(std::move(other.received_)),
      silent_(other.silent_) {}

LineChannel& LineChannel::operator=(LineChannel&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(pid_, other.pid_);
  std::swap(received_, other.received_);
  std::swap(silent_, other.silent_);
  return *this;
}

LineChannel::~LineChannel() {
  if (socket_ >= 0) close(socket_);
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void LineChannel::send(const std::string& line) { send_line(socket_, line); }

void LineChannel::read_available() {
  char buffer[4096];
  while (!silent_ && received_.size() <= kLongestLine) {
    const ssize_t n = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) received_.append(buffer, static_cast<std::size_t>(n));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    silent_ = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return;
  }
}

std::optional<std::string> LineChannel::receive() {
  read_available();
  return take_line(received_);
}

std::optional<Exit> LineChannel::ended() {
  if (pid_ == 0) return std::nullopt;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) {
    return std::nullopt;
  }
  read_available();  // its last lines
  if (received_.find('\n') != std::string::npos) return std::nullopt;
  kill(-pid_, SIGKILL);  // its own children, before the system can reuse the id
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return exit_of(status);
}

void LineChannel::wait(const std::vector<const LineChannel*>& all, int milliseconds) {
  std::vector<pollfd> files;
  files.reserve(all.size());
  for (const LineChannel* one : all) {
    if (!one->silent_) files.push_back({one->socket_, POLLIN, 0});
  }
  if (files.size() < all.size()) milliseconds = std::min(milliseconds, 1);  // poll() does not report how a child ended
  poll(files.data(), files.size(), milliseconds);
}

void ParentChannel::send(const std::string& line) { send_line(STDIN_FILENO, line); }

std::optional<std::string> ParentChannel::receive() {
  while (true) {
    std::optional<std::string> line = take_line(received_);
    if (line) return line;
    char buffer[4096];
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    received_.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace clbake::builder::process
