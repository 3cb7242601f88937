#include <clbake/os/messages.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace clbake::os {
namespace {

// The only file that the message carries; -1: none.
int file_of(::msghdr& message) {
  const ::cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool is_file = header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
                       header->cmsg_len == CMSG_LEN(sizeof(int));
  int file = -1;
  if (is_file) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

// The bytes of the file, which its sender may change meanwhile. Fails with malformed.
Result<std::string> content_of(int file, std::size_t most_bytes) {
  struct ::stat info = {};
  const bool readable = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (!readable || info.st_size < 0 || static_cast<std::size_t>(info.st_size) > most_bytes) {
    return {Code::malformed, "a message is no file, or too large"};
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ::ssize_t read = ::pread(file, &bytes[done], bytes.size() - done, static_cast<::off_t>(done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return {Code::malformed, "a message ends too early"};
    done += static_cast<std::size_t>(read);
  }
  return bytes;
}

Received received(int file, std::size_t most_bytes) {
  if (file < 0) return {Received::Event::message, {Code::malformed, "a message carries no file"}, {}};
  Result<std::string> bytes = content_of(file, most_bytes);
  ::close(file);
  return {Received::Event::message, bytes.status(), bytes ? std::move(*bytes) : std::string()};
}

}  // namespace

bool is_message_channel() {
  struct ::stat info = {};
  return ::fstat(STDIN_FILENO, &info) == 0 && S_ISSOCK(info.st_mode);
}

// Every message is one byte that carries a file.
Received receive_message(int milliseconds, std::size_t most_bytes) {
  while (true) {
    ::pollfd waiting = {STDIN_FILENO, POLLIN, 0};
    if (::poll(&waiting, 1, milliseconds) == 0) return {};
    char byte = 0;
    ::iovec data = {&byte, 1};
    alignas(::cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    ::msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ::ssize_t got = ::recvmsg(STDIN_FILENO, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return {Received::Event::end, {}, {}};
    return received(file_of(message), most_bytes);
  }
}

}  // namespace clbake::os
