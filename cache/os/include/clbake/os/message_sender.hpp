// Messages of any size to a program that is nobody's child (clbake/os/messages.hpp has its end).
#pragma once

#include <clbake/status.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clbake::os {

// For libraries in any program, which notices nothing: no call waits for the receiver or raises a signal; the receiver
// is in a session of its own, has none of the program's files, and leaves no zombie and no SIGCHLD. One thread;
// copies share the channel. The receiver outlives the object and finds the end of the messages then.
class MessageSender {
 public:
  struct Channel;

  // Starts the receiver; arguments[0] is its executable's path. `environment`: all of it. Fails with io.
  static Result<MessageSender> start(const std::vector<std::string>& arguments,
                                     const std::map<std::string, std::string>& environment);

  // All of the message at once, or nothing. Fails with not_found when the receiver has ended, or the program has closed
  // this end; or with io, also when the receiver is busy.
  Status send(const std::string& message) const;

 private:
  explicit MessageSender(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  std::shared_ptr<Channel> channel_;
};

}  // namespace clbake::os
