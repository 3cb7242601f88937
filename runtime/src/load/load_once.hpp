// One program, loaded at most once.
#pragma once

#include "program/program.hpp"

#include <clbake/exceptions_to_status.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace clbake {

// True for a failure that is about the program itself and will recur. Failures of the machine may pass.
inline bool is_permanent(Code code) { return code != Code::opencl && code != Code::out_of_memory; }

using Loaded = Result<std::shared_ptr<const Program>>;

class LoadOnce {
 public:
  // The program; null while there is none. Never waits for a driver.
  std::shared_ptr<const Program> ready() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return program_;
  }

  // The permanent failure; ok before the first `get`, and when there is a program.
  Status failure() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }

  // The program, or why there is none; the first call runs `load` (-> Result<Program>) without a lock while others
  // wait. A permanent failure is kept, so that a broken program is not tried at every call.
  template <typename Load>
  Loaded get(const Load& load) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !loading_; });
    if (program_) return program_;
    if (!failure_.ok()) return failure_;
    loading_ = true;
    lock.unlock();
    Loaded loaded = exceptions_to_status([&]() -> Loaded {
      Result<Program> program = load();
      if (!program) return program.status();
      return std::make_shared<const Program>(std::move(*program));
    });
    lock.lock();
    loading_ = false;
    changed_.notify_all();  // before the copy below, which may lack memory
    if (loaded) program_ = *loaded;
    if (is_permanent(loaded.status().code())) failure_ = loaded.status();
    return loaded;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool loading_ = false;
  std::shared_ptr<const Program> program_;
  Status failure_;
};

}  // namespace clbake
