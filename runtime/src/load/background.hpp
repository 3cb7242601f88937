// The library's own thread, which runs one task after another. It starts with the first task.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace clbake {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Waits for the running task and for all that must complete; discards the rest.
  ~Background();

  // The destructor's treatment of a task that has not begun.
  enum class AtShutdown { discard, complete };

  // Any thread, the library's own included. May throw what std::thread throws; the task is then not added.
  void add(AtShutdown policy, std::function<void()> task);

  // Waits until no task is left. A task must not call it.
  void finish();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Task {
    AtShutdown policy;
    std::function<void()> run;
  };
  std::vector<Task> waiting_;  // in their order
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clbake
