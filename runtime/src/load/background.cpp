#include "load/background.hpp"

#include <clbake/exceptions_to_status.hpp>

#include <utility>

namespace clbake {

Background::~Background() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::add(AtShutdown policy, std::function<void()> task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  waiting_.push_back({policy, std::move(task)});
  changed_.notify_all();
}

void Background::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || (waiting_.empty() && !busy_); });
}

void Background::run() {
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

}  // namespace clbake
