// The layer's end of learning: starts `clbake learn` as a child process and sends it requests.
#pragma once

#include <clbake/learn_request.hpp>

#include <memory>
#include <string>

namespace clbake::learn {

struct SenderSettings {
  std::string learner;      // absolute path of the `clbake` command
  std::string overlay;      // absolute path of the overlay's directory
  std::uint64_t bytes = 0;  // OverlayOptions::max_bytes; 0: its default
  std::string log;          // absolute path of the file to which the learner adds its lines; empty: it writes none
};

// Any thread, but not one of a child that was forked while another thread was in a call. The program notices nothing:
// no call waits for the learner or raises a signal; the learner is in a session of its own, has none of the program's
// files, and leaves no zombie and no SIGCHLD. It ends by itself, after the program or earlier.
class Sender {
 public:
  explicit Sender(SenderSettings settings);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender();  // the learner then works on what it has

  // Starts the learner if there is none. Takes about a millisecond then, else microseconds. Fails with
  // invalid_argument when the request is too large, or with io or out_of_memory when the learner cannot be started or
  // is busy: the request is then dropped, and the next process learns it. Once it could not be started nothing is
  // tried again, and further calls do nothing.
  Status send(Request request) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clbake::learn
