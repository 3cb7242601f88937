#include "load/background.hpp"

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

void Background::add(ShutdownPolicy policy, std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  waiting_.push_back({policy, std::move(work)});
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
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    if (stop_ && work.policy == ShutdownPolicy::may_be_dropped) continue;
    busy_ = true;
    lock.unlock();
    work.run();
    work.run = nullptr;  // its destructor may call add()
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace clbake
