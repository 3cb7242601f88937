// One learner at a time: of all that share an overlay one works, and a few wait.
#pragma once

#include <clbake/os/lock.hpp>

#include <string>

namespace clbake::builder::learn {

// The right to work in a directory inside the overlay, until the object or its process ends, however that ends.
class WorkLock {
 public:
  static constexpr int kMostWaiting = 8;  // with the one that works

  // Waits for the right; nobody but the user can hold it up. Then empties the directory of what a killed learner left
  // there. Fails with cancelled when kMostWaiting others wait already, or with io. `overlay` exists.
  static Result<WorkLock> take(const std::string& overlay);

  const std::string& directory() const { return directory_; }  // for the files of the work

 private:
  WorkLock(std::string directory, os::LockFile file) : directory_(std::move(directory)), file_(std::move(file)) {}
  std::string directory_;
  os::LockFile file_;
};

}  // namespace clbake::builder::learn
