// The library's own thread: runs one piece of work after another. Starts with the first piece.
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
  // Waits for the work in progress and for all work that has to be done; drops the rest.
  ~Background();

  enum class ShutdownPolicy { may_be_dropped, has_to_be_done };

  // Any thread, the library's own included. May throw what std::thread throws; the work is then not kept.
  void add(ShutdownPolicy policy, std::function<void()> work);

  // Waits until no work is left. The work itself must not call it.
  void finish();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Work {
    ShutdownPolicy policy;
    std::function<void()> run;
  };
  std::deque<Work> waiting_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clbake
