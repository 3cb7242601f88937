#include <clbake/os/clock.hpp>

namespace clbake::os {

std::tm utc(std::time_t time) {
  std::tm parts = {};
  ::gmtime_s(&parts, &time);
  return parts;
}

}  // namespace clbake::os
