#include <clbake/os/line_channel.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lines.hpp"
#include "posix/process/child.hpp"

namespace clbake::os {

struct LineChannel::Pipe {
  explicit Pipe(int end) : socket(end) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { ::close(socket); }

  int socket;
  bool silent = false;  // the child has closed its end
};

namespace {

void send_line(int socket, const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ::ssize_t n = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

Result<LineChannel> LineChannel::start(const Launch& launch) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return {Code::io, std::string("socketpair: ") + std::strerror(errno)};
  }
  auto pipe = std::make_unique<Pipe>(ends[0]);
  Result<Child> child = posix::start(launch, ends[1]);
  ::close(ends[1]);
  if (!child) return child.status();
  return LineChannel(std::move(pipe), std::move(*child));
}

LineChannel::LineChannel(std::unique_ptr<Pipe> pipe, Child child) : pipe_(std::move(pipe)), child_(std::move(child)) {}
LineChannel::LineChannel(LineChannel&& other) noexcept = default;
LineChannel& LineChannel::operator=(LineChannel&& other) noexcept = default;
LineChannel::~LineChannel() = default;

void LineChannel::send(const std::string& line) { send_line(pipe_->socket, line); }

void LineChannel::read_available() {
  char buffer[4096];
  while (!pipe_->silent && received_.size() <= kLongestLine) {
    const ::ssize_t n = ::recv(pipe_->socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) received_.append(buffer, static_cast<std::size_t>(n));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    pipe_->silent = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return;
  }
}

void LineChannel::wait(const std::vector<const LineChannel*>& all, int milliseconds) {
  std::vector<::pollfd> files;
  files.reserve(all.size());
  for (const LineChannel* one : all) {
    if (!one->pipe_->silent) files.push_back({one->pipe_->socket, POLLIN, 0});
  }
  if (files.size() < all.size()) milliseconds = std::min(milliseconds, 1);  // poll() does not report how a child ended
  ::poll(files.data(), files.size(), milliseconds);
}

void ParentChannel::send(const std::string& line) { send_line(STDIN_FILENO, line); }

std::optional<std::string> ParentChannel::receive() {
  while (true) {
    std::optional<std::string> line = take_line(received_);
    if (line) return line;
    char buffer[4096];
    const ::ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    received_.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace clbake::os
