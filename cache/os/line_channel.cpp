#include <clbake/os/line_channel.hpp>

#include "lines.hpp"

namespace clbake::os {

std::optional<std::string> LineChannel::receive() {
  read_available();
  return take_line(received_);
}

std::optional<Exit> LineChannel::ended() {
  if (!child_.has_ended()) return std::nullopt;
  read_available();  // its last lines
  if (received_.find('\n') != std::string::npos) return std::nullopt;
  return child_.ended();
}

}  // namespace clbake::os
