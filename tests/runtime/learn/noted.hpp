// A directory for an overlay, and for what the fake learner notes beside it.
#pragma once

#include "system/temporary_directory.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace clbake::tests {

class Noted {
 public:
  std::string path(const std::string& name) const { return directory_.file(name); }

  // The contents of the files whose names begin so, sorted by name.
  std::vector<std::string> noted(const std::string& prefix) const {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::u8path(directory_.path))) {
      const std::string name = file.path().filename().u8string();
      if (name.rfind(prefix, 0) == 0 && std::count(name.begin(), name.end(), '.') == 0) paths.push_back(file.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const std::filesystem::path& path : paths) {
      std::ifstream file(path);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
  }

  // Waits until there are that many.
  std::vector<std::string> wait_for(const std::string& prefix, std::size_t count = 1) const {
    for (int i = 0; i < 6000 && noted(prefix).size() < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    BOOST_REQUIRE_MESSAGE(noted(prefix).size() >= count, "no " << count << " files " << prefix);
    return noted(prefix);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace clbake::tests
