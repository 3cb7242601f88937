// Shared by the files of this folder.
#pragma once

#include <clbake/os/files.hpp>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clbake::os::posix {

// An open file descriptor, which it closes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

inline Status io_failure(const char* step, int error) {
  return {Code::io, std::string(step) + ": " + std::strerror(error)};
}

// not_found or io, as the error has it.
inline Code code_of(int error) { return error == ENOENT || error == ENOTDIR ? Code::not_found : Code::io; }

// "a/b" of "a/b/c", "." of "c".
std::string directory_of(const std::string& path);

// For a name in an open directory, or a path with AT_FDCWD. Messages name nothing.
Result<Mapping> map_at(int directory, const std::string& name);
Status write_at(int directory, const std::string& name, ::mode_t permissions, std::string_view bytes);
Status write_all(int file, std::string_view bytes);
Status sync_directory(int directory);

}  // namespace clbake::os::posix
