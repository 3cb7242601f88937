// The layer's end of a learner's socket, for a test that waits for the learner's end.
#pragma once

#include "learn/learner_command.hpp"
#include "posix/process/detached.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <string>

namespace clbake::tests {

class Layer {
 public:
  explicit Layer(const learn::SenderSettings& settings)
      : socket_(os::posix::start_detached(learn::learner_command(settings), learn::learner_environment())) {
    BOOST_REQUIRE_MESSAGE(socket_.ok(), socket_.status().message());
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() { close(*socket_); }

  int socket() const { return *socket_; }

  void send(const learn::Request& request) const { send_bytes(*learn::encode(request)); }

  void send_bytes(const std::string& bytes) const {
    const int file = memfd_create("message", MFD_CLOEXEC);
    BOOST_REQUIRE(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    send_file(file);
  }

  // Closes it.
  void send_file(int file) const {
    static_cast<void>(os::posix::send_file(*socket_, file));  // a learner that failed has ended
    close(file);
  }

  // The program ends; waits for the end of the learner.
  void end() const {
    shutdown(*socket_, SHUT_WR);
    char byte = 0;
    while (recv(*socket_, &byte, 1, 0) > 0) {
    }
  }

 private:
  Result<int> socket_;
};

}  // namespace clbake::tests
