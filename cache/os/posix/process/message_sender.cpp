#include <clbake/os/message_sender.hpp>

#include "posix/own_descriptor.hpp"
#include "posix/process/detached.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clbake::os {

struct MessageSender::Channel {
  posix::OwnDescriptor socket;
};

namespace {

Status failure(const char* step, int error) { return {Code::io, std::string(step) + ": " + std::strerror(error)}; }

Status write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ::ssize_t wrote = ::write(file, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno != EINTR) return failure("the message", errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return {};
}

bool is_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

Status deliver(int socket, int file) {
  const int error = posix::send_file(socket, file);
  if (error == 0) return {};
  if (is_gone(error)) return {Code::not_found, "has ended"};
  return failure("is busy", error);
}

}  // namespace

Result<MessageSender> MessageSender::start(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment) {
  auto channel = std::make_unique<Channel>();
  const Result<int> socket = posix::start_detached(arguments, environment);
  if (!socket) return socket.status();
  if (!channel->socket.take(*socket)) return failure("socket", errno);
  return MessageSender(std::move(channel));
}

// Every message is a file in memory, whose descriptor goes through the socket: so a message of any size is sent at once
// or not at all, and the socket holds hundreds of them before the receiver has started to read.
Status MessageSender::send(const std::string& message) const {
  const int socket = channel_->socket.number();
  if (socket < 0) return {Code::not_found, "its channel was closed"};
  // By its number: before 2.27 glibc has no function for it.
  const int file = static_cast<int>(::syscall(SYS_memfd_create, "clbake-message", 1U /* MFD_CLOEXEC */));
  if (file < 0) return failure("the message", errno);
  Status status = write_all(file, message);
  if (status) status = deliver(socket, file);
  ::close(file);
  return status;
}

}  // namespace clbake::os
