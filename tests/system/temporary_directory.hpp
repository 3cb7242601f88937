// A directory for one test, removed at its end.
#pragma once

#include <filesystem>
#include <iterator>
#include <random>
#include <string>

namespace clbake::tests {

class TemporaryDirectory {
 public:
  // Throws when it cannot be made.
  TemporaryDirectory() {
    namespace fs = std::filesystem;
    std::random_device random;
    fs::path made;
    do {
      made = fs::temp_directory_path() / ("clbake-test-" + std::to_string(random()));
    } while (!fs::create_directory(made));
    fs::permissions(made, fs::perms::owner_all);
    path = fs::canonical(made).generic_u8string();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(std::filesystem::u8path(path), ignored);
  }

  std::string file(const std::string& name) const { return path + "/" + name; }

  // The number of files in it.
  std::size_t files() const {
    using std::filesystem::directory_iterator;
    return static_cast<std::size_t>(
        std::distance(directory_iterator(std::filesystem::u8path(path)), directory_iterator()));
  }

  std::string path;
};

}  // namespace clbake::tests
