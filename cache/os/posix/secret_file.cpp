#include "posix/descriptor.hpp"

#include <sys/stat.h>

namespace clbake::os {

Status create_file(const std::string& path, std::string_view bytes, Access access) {
  const ::mode_t permissions = access == Access::user ? 0600 : 0644;
  const posix::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions));
  if (!file && errno == EEXIST) return {Code::invalid_argument, path + ": exists already"};
  if (!file) return posix::io_failure("cannot be created", errno).within(path);
  Status status = posix::write_all(file.get(), bytes);
  if (status && ::fsync(file.get()) != 0) status = posix::io_failure("write", errno);
  if (!status) ::unlink(path.c_str());
  return status.within(path);
}

Status read_secret(const std::string& path, std::string& text, std::size_t most_bytes) {
  const bool is_input = path == "-";
  const posix::Descriptor opened(is_input ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_input && !opened) {
    return {errno == ENOENT ? Code::not_found : Code::io, path + ": cannot be opened: " + std::strerror(errno)};
  }
  const int file = is_input ? STDIN_FILENO : opened.get();
  struct stat info = {};
  if (::fstat(file, &info) != 0) return posix::io_failure("stat", errno).within(path);
  if (S_ISREG(info.st_mode) && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return {Code::invalid_argument, path + ": others than its owner may use this secret key: chmod 600 it"};
  }
  text.assign(most_bytes, '\0');
  std::size_t bytes = 0;
  ::ssize_t got = 1;
  while (got > 0 && bytes < text.size()) {
    got = ::read(file, &text[bytes], text.size() - bytes);
    if (got < 0 && errno != EINTR) return posix::io_failure("read", errno).within(path);
    bytes += static_cast<std::size_t>(got < 0 ? 0 : got);
    if (got < 0) got = 1;
  }
  text.resize(bytes);
  return {};
}

}  // namespace clbake::os
