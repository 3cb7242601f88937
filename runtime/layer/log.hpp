// The layer's log: one line for each thing that is not as the user may expect it, none by default.
#pragma once

#include <string>

namespace clbake::layer {

// "stderr", or a file that is appended to; empty: no log. Called once, before any other thread can use the layer.
void open_log(const std::string& where);

// True when there is a log. Any thread.
bool logs() noexcept;

// Writes "clbake: MESSAGE" in one piece; line ends become blanks. Any thread. Never fails visibly, never throws.
void log(const std::string& message) noexcept;

}  // namespace clbake::layer
