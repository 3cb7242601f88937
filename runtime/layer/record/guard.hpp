// The recording's part of a call never harms the program.
#pragma once

#include "log.hpp"

#include <exception>
#include <new>
#include <string>

namespace clbake::layer::record {

inline void log_failure(const char* why) noexcept {
  try {
    log(std::string("recording: a call is not recorded: ") + why);
  } catch (const std::bad_alloc&) {  // no memory for a line
  }
}

// Does the work. An exception costs the recording this call; the log says so.
template <typename Work>
void guarded(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    log_failure("out of memory");
  } catch (const std::exception& error) {
    log_failure(error.what());
  } catch (...) {
    log_failure("an unknown exception");
  }
}

}  // namespace clbake::layer::record
