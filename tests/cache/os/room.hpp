// A directory for one test of the room for the operating system.
#pragma once

#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/work_directories.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace clbake::os::test {

// A base class of what holds open files in it, so that they are closed first.
class Room {
 public:
  Room() : path_(made()) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { remove_directory(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(native(path_))) {
      all.push_back(utf8(entry.path().filename()));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  static std::string made() {
    const Result<std::string> path = make_temporary_directory({});
    BOOST_REQUIRE_MESSAGE(path.ok(), path.status().message());
    return *path;
  }
  std::string path_;
};

inline std::string text_of(const Mapping& mapping) { return {mapping.data, mapping.data + mapping.size}; }

inline std::string text_of(const std::string& path) {
  const Result<std::string> text = read_file(path, 1U << 20U);
  return text ? *text : text.status().message();
}

inline void make_old(const std::string& path, std::chrono::hours age) {
  std::filesystem::last_write_time(native(path), std::filesystem::file_time_type::clock::now() - age);
}

}  // namespace clbake::os::test
