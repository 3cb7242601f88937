// The start of the learner's process.
#pragma once

#include "learn/sender.hpp"

namespace clbake::learn {

// Starts the learner and returns the program's end of its socket, which is closed on exec. Fails with io.
Result<int> start_learner(const SenderSettings& settings);

// Sends the learner a message: one byte that carries the file. Does not block. Returns 0 or the error's number.
int send_file(int socket, int file);

}  // namespace clbake::learn
