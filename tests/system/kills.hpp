// Processes that are killed at random moments.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <functional>

namespace clbake::tests {

// CLBAKE_KILLS of the environment, else `quick`: how many processes a test kills.
std::size_t kills_wanted(std::size_t quick);

// Prints how far it is to stderr, every thousand.
void show_kills(std::size_t done, std::size_t all);

// Runs `work` in a child process and kills that, with all it started, after at most `most_us` microseconds: a random
// time, by `seed`. `work` may write to the descriptor it gets, one byte for each step that it was told is done. Returns
// the number of bytes; the child has ended then, by itself or not.
std::size_t run_and_kill(const std::function<void(int acknowledge)>& work, unsigned most_us, unsigned seed);

}  // namespace clbake::tests
