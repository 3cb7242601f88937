// Messages that a process gets from one whose child it is not, over its standard input.
#pragma once

#include <clbake/status.hpp>

#include <cstddef>
#include <string>

namespace clbake::os {

// False when the standard input is something else.
bool is_message_channel();

struct Received {
  enum class Event { message, silence, end };
  Event event = Event::silence;
  Status status;        // malformed: a message that carries nothing, ends too early or is too large
  std::string message;  // empty unless `status` is ok
};

// Waits for a message, or the sender's end, at most `milliseconds`. One thread. REQUIRES: is_message_channel().
Received receive_message(int milliseconds, std::size_t most_bytes);

}  // namespace clbake::os
