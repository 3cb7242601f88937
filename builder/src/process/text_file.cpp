#include "process/text_file.hpp"

#include <clbake/cache/xxh64.hpp>
#include <clbake/os/files.hpp>

#include <cinttypes>
#include <cstdio>

namespace clbake::builder::process {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::string> read_input(const std::string& path, std::uintmax_t most_bytes) {
  return path == "-" ? os::read_standard_input(most_bytes) : os::read_file_or_pipe(path, most_bytes);
}

Result<std::string> read_text_file(const std::string& path, std::uintmax_t most_bytes) {
  return os::read_file(path, most_bytes);
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
