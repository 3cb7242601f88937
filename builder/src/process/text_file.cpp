#include "process/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::builder {

Result<std::string> read_text_file(const std::string& path, std::uintmax_t most_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return {Code::not_found, path + ": No such file or directory"};
  }
  if (error) return {Code::io, path + ": " + error.message()};
  if (!std::filesystem::is_regular_file(status)) return {Code::io, path + ": not a regular file"};
  if (std::filesystem::file_size(path, error) > most_bytes || error) {
    return {Code::malformed, path + ": it has more than " + std::to_string(most_bytes >> 20U) + " MiB"};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return {Code::io, path + ": " + std::strerror(errno)};
  return text;
}

}  // namespace clbake::builder
