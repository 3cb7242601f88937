#include "learn/sender.hpp"

#include <clbake/exceptions_to_status.hpp>
#include "learn/start_learner.hpp"
#include "own_descriptor.hpp"

#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace clbake::learn {
namespace {

constexpr int kMaxStarts = 32;  // of learners by one process; each ends when the program has been silent for a while

Status failure(const char* step) { return {Code::io, std::string(step) + ": " + std::strerror(errno)}; }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Status write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = write(file, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno != EINTR) return failure("the learner's message");
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return {};
}

bool is_gone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

std::string working_directory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) ? std::string(path) : std::string();
}

}  // namespace

// Every message is a file in memory, whose descriptor goes through the socket: so a message of any size is sent at once
// or not at all, and the socket holds hundreds of them before a learner has started to read.
struct Sender::State {
  explicit State(SenderSettings given) : settings(std::move(given)) {}

  Status start() {
    socket.close();
    const Result<int> started = starts < kMaxStarts ? start_learner(settings) : Status(Code::io, "too many learners");
    ++starts;
    given_up = !started;
    if (!started) return started.status();
    return socket.take(*started) ? Status() : failure("the learner's socket");
  }

  Status deliver(int file) {
    const int known = socket.number();
    if (known >= 0) {
      const int error = send_file(known, file);
      if (error == 0) return {};
      if (!is_gone(error)) return {Code::io, std::string("the learner is busy: ") + std::strerror(error)};
    }
    const Status started = start();
    if (!started) return started;
    const int error = send_file(socket.number(), file);
    return error == 0 ? Status() : Status(Code::io, std::string("the learner's socket: ") + std::strerror(error));
  }

  Status send(Request request) {
    if (request.directory.empty()) request.directory = working_directory();
    const Result<std::string> message = encode(request);
    if (!message) return message.status();
    const std::lock_guard<std::mutex> lock(mutex);
    if (given_up) return {};
    const Descriptor file(memfd_create("clbake-learn", MFD_CLOEXEC));
    if (file.number() < 0) return failure("the learner's message");
    const Status written = write_all(file.number(), *message);
    return written ? deliver(file.number()) : written;
  }

  const SenderSettings settings;
  std::mutex mutex;
  layer::OwnDescriptor socket;
  int starts = 0;
  bool given_up = false;
};

Sender::Sender(SenderSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}

Sender::~Sender() = default;

Status Sender::send(Request request) noexcept {
  return exceptions_to_status([&] { return state_->send(std::move(request)); });
}

}  // namespace clbake::learn
