#include "posix/descriptor.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace clbake::os {
namespace posix {
namespace {

// ENOTDIR is a fault of the path here.
Status map_failure(int error) { return {error == ENOENT ? Code::not_found : Code::io, std::strerror(error)}; }

}  // namespace

Result<Mapping> map_at(int directory, const std::string& name) {
  // O_NONBLOCK: opening a pipe must fail below, not wait for its writer.
  const Descriptor file(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return map_failure(errno);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return map_failure(errno);
  if (S_ISDIR(info.st_mode)) return map_failure(EISDIR);
  if (!S_ISREG(info.st_mode)) return {Code::io, "not a regular file"};
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return Mapping{};
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return map_failure(errno);
  const auto unmap = [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); };
  return Mapping{{static_cast<const void*>(memory), unmap}, static_cast<const std::uint8_t*>(memory), size};
}

}  // namespace posix

Result<Mapping> map_file(const std::string& path) {
  Result<Mapping> mapping = posix::map_at(AT_FDCWD, path);
  return mapping ? std::move(mapping) : mapping.status().within(path);
}

}  // namespace clbake::os
