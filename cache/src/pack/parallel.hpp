// A loop on several threads.
#pragma once

#include <clbake/exceptions_to_status.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace clbake::cache {

// Calls work(i, thread) for i in 0 .. count-1, in any order; `thread` is below `threads` and different for calls at the
// same time. The caller's thread is number 0 and calls between(done) after each of its own. Ends early when one of them
// fails, and returns one of the failures.
template <typename Work, typename Between>
Status parallel_for(std::size_t count, unsigned threads, Work work, Between between) {
  std::atomic<std::size_t> next{0}, done{0};
  std::vector<Status> statuses(threads);
  const auto run = [&](unsigned thread) {
    Status& status = statuses[thread];
    for (std::size_t i = next++; i < count; i = next++) {
      status = exceptions_to_status([&]() -> Status {
        Status worked = work(i, thread);
        ++done;
        return worked && thread == 0 ? between(done.load()) : worked;
      });
      if (!status) next = count;
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < std::min<std::size_t>(threads, count); ++thread) {
    // Without a further thread, the others do its part.
    if (!exceptions_to_status([&]() -> Status { return others.emplace_back(run, thread), Status(); })) break;
  }
  run(0);
  for (std::thread& other : others) other.join();
  const auto failed = std::find_if(statuses.begin(), statuses.end(), [](const Status& status) { return !status; });
  return failed == statuses.end() ? Status() : *failed;
}

}  // namespace clbake::cache
