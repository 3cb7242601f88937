// Requests of the layer, as they come.
#pragma once

#include <clbake/learn_request.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace clbake::builder::learn {

using clbake::learn::Request;
using clbake::learn::SeenLaunch;

// The requests for one program on one device become one. What exceeds kMostBytes is dropped.
class Inbox {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of programs that wait

  // `complain` is told of messages that are none.
  Inbox(int socket, std::function<void(const std::string&)> complain);

  // Waits until there are requests and the layer has been silent for 2 s, or has ended. False when there are none and
  // it has ended, or has been silent for 10 s.
  bool wait();

  // Takes what has arrived, without waiting.
  void drain();

  // The request that came first.
  std::optional<Request> next();

 private:
  enum class Event { message, silence, end };
  Event receive(int milliseconds);
  void take_file(int file);
  void add(Request request);

  int socket_;
  std::function<void(const std::string&)> complain_;
  std::deque<Request> requests_;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

bool is_socket(int descriptor);

}  // namespace clbake::builder::learn
