// Shared by the fuzz targets. A target is one file NAME_fuzz.cpp with one LLVMFuzzerTestOneInput, which gets arbitrary
// bytes and must not crash; `expect` states its claims about accepted input. Inputs worth keeping lie in corpus/NAME.
// CMakeLists.txt says how to run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace clbake::fuzz {

// Ends the process when a claim does not hold: a fuzzer keeps the input then, and a replay fails.
inline void expect(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", claim);
  std::abort();
}

// An empty directory of this process, for the code that reads files.
class Directory {
 public:
  explicit Directory(const char* target)
      : path_((std::filesystem::temp_directory_path() / "clbake-fuzz-").string() + target + "-" +
              std::to_string(::getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  // Replaces the file; returns its path.
  std::string write(const std::string& name, const void* data, std::size_t size) const {
    const std::string path = path_ + "/" + name;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    // fwrite wants a pointer even for no bytes; an empty input may have none.
    const bool written = file != nullptr && (size == 0 || std::fwrite(data, 1, size, file) == size);
    expect(written, "the input can be written to a file");
    std::fclose(file);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace clbake::fuzz
