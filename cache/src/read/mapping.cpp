#include "read/state.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clbake::cache {
namespace {

Status failure(int error) { return {error == ENOENT ? Code::not_found : Code::io, std::strerror(error)}; }

// Maps an open file.
Result<ByteView> map(int file) {
  struct stat info = {};
  if (::fstat(file, &info) != 0) return failure(errno);
  if (S_ISDIR(info.st_mode)) return failure(EISDIR);
  if (!S_ISREG(info.st_mode)) return Status(Code::io, "not a regular file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return ByteView{};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return failure(errno);
  return ByteView{static_cast<const std::uint8_t*>(memory), size};
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (bytes_.data != nullptr) ::munmap(const_cast<std::uint8_t*>(bytes_.data), bytes_.size);
}

Result<Mapping> Mapping::of_file(int directory, const std::string& path) {
  // O_NONBLOCK: opening a pipe must fail below, not wait for its writer.
  const int file = ::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return failure(errno);
  const Result<ByteView> bytes = map(file);
  ::close(file);
  if (!bytes) return bytes.status();
  return Mapping(*bytes);
}

}  // namespace clbake::cache
