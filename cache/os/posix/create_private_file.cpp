#include "posix/descriptor.hpp"

namespace clbake::os {

Status create_private_file(const std::string& path, std::string_view bytes) {
  const posix::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) return posix::io_failure("cannot be created", errno).within(path);
  Status status = posix::write_all(file.get(), bytes);
  if (status && ::fsync(file.get()) != 0) status = posix::io_failure("fsync", errno);
  if (!status) ::unlink(path.c_str());
  return status.within(path);
}

}  // namespace clbake::os
