// Directories for temporary files and for unfinished work.
#pragma once

#include <clbake/os/work_directories.hpp>

#include <string>

namespace clbake::builder::process {

// A private directory, named clbake-*, in `parent` or (when that is empty) the system's temporary directory. The
// destructor removes it with all it holds.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> create(const std::string& parent = {});
  ScratchDirectory(ScratchDirectory&& other) noexcept;
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept;
  ~ScratchDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// `OUTPUT.work`: what an unfinished build or tuning has done so far. Created if necessary, and locked as long as the
// object lives, so that two builds or tunings of one output do not mix.
class WorkDirectory {
 public:
  // Fails with io when the directory cannot be created, another process holds it, or it contains foreign files.
  static Result<WorkDirectory> open(const std::string& path);
  const std::string& path() const { return path_; }

  // Removes the files that builds and tunings make, and the directory if nothing else is in it, which is locked no
  // longer then.
  void remove();

  // Ends the lock, and removes the directory if nothing is in it.
  void remove_if_empty();

 private:
  WorkDirectory(std::string path, os::DirectoryLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  os::DirectoryLock lock_;
};

}  // namespace clbake::builder::process
