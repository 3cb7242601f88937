#include "posix/descriptor.hpp"

#include <sys/stat.h>

namespace clbake::os {
namespace posix {
namespace {

Status read_failure(int error) { return {code_of(error), std::strerror(error)}; }

std::string text_of(std::uintmax_t bytes) {
  return bytes >> 20U ? std::to_string(bytes >> 20U) + " MiB" : std::to_string(bytes) + " bytes";
}

Result<std::string> read_all(int file, std::uintmax_t most_bytes) {
  constexpr std::size_t kStep = std::size_t{1} << 16;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    const ::ssize_t got = ::read(file, &text[size], kStep);
    if (got < 0 && errno != EINTR) return read_failure(errno);
    text.resize(size + static_cast<std::size_t>(got < 0 ? 0 : got));
    if (got == 0) return text;
  }
  return {Code::malformed, "it has more than " + text_of(most_bytes)};
}

Result<std::string> read_path(const std::string& path, std::uintmax_t most_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_all(file.get(), most_bytes) : read_failure(errno);
}

Result<std::string> named(Result<std::string> text, const std::string& name) {
  return text ? std::move(text) : text.status().within(name);
}

}  // namespace
}  // namespace posix

Result<std::string> read_file(const std::string& path, std::uintmax_t most_bytes) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return posix::read_failure(errno).within(path);
  if (!S_ISREG(info.st_mode)) return {Code::io, path + ": not a regular file"};
  return posix::named(posix::read_path(path, most_bytes), path);
}

Result<std::string> read_file_or_pipe(const std::string& path, std::uintmax_t most_bytes) {
  return posix::named(posix::read_path(path, most_bytes), path);
}

Result<std::string> read_standard_input(std::uintmax_t most_bytes) {
  return posix::named(posix::read_all(STDIN_FILENO, most_bytes), "standard input");
}

}  // namespace clbake::os
