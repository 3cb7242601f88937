#include <clbake/os/clock.hpp>

namespace clbake::os {

std::tm utc(std::time_t time) {
  std::tm parts = {};
  ::gmtime_r(&time, &parts);
  return parts;
}

}  // namespace clbake::os
