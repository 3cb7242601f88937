// Temporary directories.
#pragma once

#include <clbake/status.hpp>

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

}  // namespace clbake::builder::process
