// Temporary directories, and the environment that points drivers' caches into them.
#pragma once

#include <clbake/status.hpp>

#include <string>
#include <utility>
#include <vector>

namespace clbake::builder {

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

// Environment variables that make every known driver keep its compilation cache in `directory`: an empty one is a
// cold cache, one used before is a warm cache.
std::vector<std::pair<std::string, std::string>> driver_cache_environment(const std::string& directory);

// Environment variables for a process whose times are compared with each other: PoCL's threads are pinned to cores
// (POCL_AFFINITY). Unpinned, two of them share a core for the first milliseconds more often than not, and launches of
// about a millisecond take once or twice their time at random.
std::vector<std::pair<std::string, std::string>> steady_environment();

}  // namespace clbake::builder
