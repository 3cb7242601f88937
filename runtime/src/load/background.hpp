// The library's own thread, which runs one task after another. It starts with the first task.
#pragma once

#include <clbake/exceptions_to_status.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace clbake {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Waits for the running task and for all that must complete; discards the rest.
  ~Background() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // The destructor's treatment of a task that has not begun.
  enum class AtShutdown { discard, complete };

  // Any thread, the library's own included. May throw what std::thread throws; the task is then not added.
  void add(AtShutdown policy, std::function<void()> task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    waiting_.push_back({policy, std::move(task)});
    changed_.notify_all();
  }

  // Waits until no task is left. A task must not call it.
  void finish() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || (waiting_.empty() && !busy_); });
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Task task = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      if (stop_ && task.policy == AtShutdown::discard) continue;
      busy_ = true;
      lock.unlock();
      // A task reports its failures; what it throws while it does so, for lack of memory, must not end the process.
      static_cast<void>(exceptions_to_status([&] { return task.run(), Status(); }));
      task.run = nullptr;  // its destructor may call add()
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

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
