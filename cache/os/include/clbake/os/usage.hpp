// Traces of work that this process and its children have done.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

namespace clbake::os {

// Taken by this process and by children that have ended.
std::chrono::microseconds processor_time();

// A number that is larger when more children have ended.
std::int64_t ended_children();

// Ids of those that run.
std::set<std::int64_t> running_children();

// Paths of the shared libraries in this process.
std::set<std::string> loaded_libraries();

}  // namespace clbake::os
