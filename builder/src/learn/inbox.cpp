#include "learn/inbox.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clbake::builder::learn {
namespace {

constexpr int kQuietMs = 2000;  // a program that starts sends much; its own work goes first
constexpr int kIdleMs = 10000;

// The only file that the message carries; -1: none.
int file_of(msghdr& message) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool is_file = header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
                       header->cmsg_len == CMSG_LEN(sizeof(int));
  int file = -1;
  if (is_file) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return file;
}

// The bytes of the file, which its sender may change meanwhile. Fails with malformed.
Result<std::string> content_of(int file) {
  struct stat info = {};
  const bool readable = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (!readable || info.st_size < 0 || static_cast<std::size_t>(info.st_size) > clbake::learn::kMaxMessage) {
    return {Code::malformed, "a message is no file, or too large"};
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t read = pread(file, &bytes[done], bytes.size() - done, static_cast<off_t>(done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return {Code::malformed, "a message ends too early"};
    done += static_cast<std::size_t>(read);
  }
  return bytes;
}

bool same_program(const Request& a, const Request& b) { return a.digest == b.digest && a.target == b.target; }

void merge(Request& into, Request&& from) {
  if (into.program.empty()) std::swap(into.program, from.program), std::swap(into.directory, from.directory);
  if (into.log.empty()) into.log = std::move(from.log);
  for (SeenLaunch& launch : from.launches) {
    const bool known = std::find(into.launches.begin(), into.launches.end(), launch) != into.launches.end();
    if (!known && into.launches.size() < clbake::learn::kMaxLaunches) into.launches.push_back(std::move(launch));
  }
}

}  // namespace

Inbox::Inbox(int socket, std::function<void(const std::string&)> complain)
    : socket_(socket), complain_(std::move(complain)) {}

bool Inbox::wait() {
  while (!ended_) {
    const Event event = receive(requests_.empty() ? kIdleMs : kQuietMs);
    if (event == Event::silence) break;
  }
  return !requests_.empty();
}

void Inbox::drain() {
  while (!ended_ && receive(0) == Event::message) {
  }
}

std::optional<Request> Inbox::next() {
  if (requests_.empty()) return {};
  Request request = std::move(requests_.front());
  requests_.pop_front();
  bytes_ -= request.program.size();
  return request;
}

Inbox::Event Inbox::receive(int milliseconds) {
  pollfd waiting = {socket_, POLLIN, 0};
  const int ready = poll(&waiting, 1, milliseconds);
  if (ready == 0) return Event::silence;
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0 && (errno == EINTR || errno == EAGAIN)) return Event::message;
  ended_ = received <= 0;
  if (ended_) return Event::end;
  take_file(file_of(message));
  return Event::message;
}

void Inbox::take_file(int file) {
  const Result<std::string> bytes = file < 0 ? Status(Code::malformed, "a message carries no file") : content_of(file);
  if (file >= 0) close(file);
  Result<Request> request = bytes ? clbake::learn::decode(*bytes) : bytes.status();
  if (request) return add(std::move(*request));
  complain_(request.status().message());
}

void Inbox::add(Request request) {
  const auto known = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const Request& other) { return same_program(request, other); });
  if (bytes_ + request.program.size() > kMostBytes) return complain_("too many programs wait: one is not learned");
  bytes_ += request.program.size();
  if (known == requests_.end()) return requests_.push_back(std::move(request));
  const std::size_t twice = known->program.empty() ? 0 : request.program.size();
  bytes_ -= twice;
  merge(*known, std::move(request));
}

bool is_socket(int descriptor) {
  struct stat info = {};
  return fstat(descriptor, &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace clbake::builder::learn
