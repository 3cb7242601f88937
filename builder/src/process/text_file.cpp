#include "process/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace clbake::builder::process {
namespace {

// Closes all but standard input.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDIN_FILENO) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Status failure(const std::string& path) {
  const Code code = errno == ENOENT || errno == ENOTDIR ? Code::not_found : Code::io;
  return {code, input_name(path) + ": " + std::strerror(errno)};
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::string> read_input(const std::string& path, std::uintmax_t most_bytes) {
  const Descriptor file(path);
  if (file.number() < 0) return failure(path);
  constexpr std::size_t kStep = std::size_t{1} << 16;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    const ssize_t got = read(file.number(), &text[size], kStep);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return failure(path);
  }
  const std::string most =
      most_bytes >> 20U ? std::to_string(most_bytes >> 20U) + " MiB" : std::to_string(most_bytes) + " bytes";
  return {Code::malformed, input_name(path) + ": it has more than " + most};
}

Result<std::string> read_text_file(const std::string& path, std::uintmax_t most_bytes) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return failure(path);
  if (!S_ISREG(status.st_mode)) return {Code::io, path + ": not a regular file"};
  return read_input(path == "-" ? "./-" : path, most_bytes);
}

}  // namespace clbake::builder::process
