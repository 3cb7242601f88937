// The library's own thread: does one piece of work after the other. Started when there is work for the first time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace clbake {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Waits for the work in progress and for what has to be done, drops the rest.
  ~Background();

  enum class ShutdownPolicy { may_be_dropped, has_to_be_done };

  // May throw what std::thread throws; the work is then not kept. Any thread, the work's own too.
  void add(ShutdownPolicy urge, std::function<void()> work);

  // Waits until nothing is left. Not to be called by the work itself.
  void finish();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Work {
    ShutdownPolicy urge;
    std::function<void()> run;
  };
  std::deque<Work> waiting_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clbake
