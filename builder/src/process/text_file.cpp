#include "process/text_file.hpp"

#include <clbake/cache/xxh64.hpp>

#include <sys/stat.h>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

namespace clbake::builder::process {
namespace {

Status failure(const std::string& path) {
  const Code code = errno == ENOENT || errno == ENOTDIR ? Code::not_found : Code::io;
  return {code, input_name(path) + ": " + std::strerror(errno)};
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::string> read_input(const std::string& path, std::uintmax_t most_bytes) {
  const auto close = [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(path == "-" ? stdin : std::fopen(path.c_str(), "re"),
                                                             close);
  if (!file) return failure(path);
  constexpr std::size_t kStep = std::size_t{1} << 16;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    const std::size_t got = std::fread(&text[size], 1, kStep, file.get());
    text.resize(size + got);
    if (std::ferror(file.get())) {
      if (errno != EINTR) return failure(path);
      std::clearerr(file.get());
      continue;
    }
    if (got == 0) return text;
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

std::string digest(const std::string& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, cache::xxh64(data, bytes.size(), 0));
  return text;
}

std::string digest(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text;
  return digest(all);
}

}  // namespace clbake::builder::process
