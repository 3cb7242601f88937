// One learner at a time: of all that share an overlay one works, and a few wait.
#pragma once

#include <clbake/status.hpp>

#include <string>

namespace clbake::builder::learn {

// The right to work in a directory inside the overlay, until the object or its process ends, however that ends.
class WorkLock {
 public:
  static constexpr int kMostWaiting = 8;  // with the one that works

  // Waits for the right; nobody but the user can hold it up. Then empties the directory of what a killed learner left
  // there. Fails with cancelled when kMostWaiting others wait already, or with io. `overlay` exists.
  static Result<WorkLock> take(const std::string& overlay);

  WorkLock(WorkLock&& other) noexcept;
  WorkLock& operator=(WorkLock&&) = delete;
  ~WorkLock();

  const std::string& directory() const { return directory_; }  // for the files of the work

 private:
  WorkLock(std::string directory, int file) : directory_(std::move(directory)), file_(file) {}
  std::string directory_;
  int file_;  // whose locks are held
};

}  // namespace clbake::builder::learn
