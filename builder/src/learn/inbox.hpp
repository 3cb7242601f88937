// Requests of the layer, as they come.
#pragma once

#include <clbake/learn_request.hpp>
#include <clbake/os/messages.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace clbake::builder::learn {

using clbake::learn::Request;
using clbake::learn::SeenLaunch;

// The layer's requests, from the standard input. Those for one program on one device become one. What exceeds
// kMostBytes is dropped.
class Inbox {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of programs that wait

  // `complain` is told of messages that are none.
  explicit Inbox(std::function<void(const std::string&)> complain);

  // Waits until there are requests and the layer has been silent for 2 s, or has ended. False when there are none and
  // it has ended, or has been silent for 10 s.
  bool wait();

  // Takes what has arrived, without waiting.
  void drain();

  // The request that came first.
  std::optional<Request> next();

 private:
  bool receive(int milliseconds);  // false after silence
  void take(const os::Received& got);
  void add(Request request);

  std::function<void(const std::string&)> complain_;
  std::deque<Request> requests_;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace clbake::builder::learn
