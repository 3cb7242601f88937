// Dates.
#pragma once

#include <ctime>

namespace clbake::os {

// A time's parts in UTC. Any number of threads at once.
std::tm utc(std::time_t time);

}  // namespace clbake::os
