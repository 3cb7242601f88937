// The recording's part of a call never harms the program.
#pragma once

#include "log.hpp"

namespace clbake::layer::record {

// Does the work. An exception, for want of memory, costs the recording this call; the log says so.
template <typename Work>
void guarded(const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    log("recording: a call is not recorded for want of memory");
  }
}

}  // namespace clbake::layer::record
