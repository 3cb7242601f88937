// A directory for one test, removed at its end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

namespace clbake::tests {

class TemporaryDirectory {
 public:
  // Throws when it cannot be made.
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "clbake-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory: " + pattern);
    path = std::filesystem::canonical(pattern).string();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::string file(const std::string& name) const { return path + "/" + name; }

  // The number of files in it.
  std::size_t files() const {
    using std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(directory_iterator(path), directory_iterator()));
  }

  std::string path;
};

}  // namespace clbake::tests
