// Lines in a stream of text; shared by the systems' folders.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace clbake::os {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // a working child sends far less

// The first line, which it removes; nothing when no line is complete.
inline std::optional<std::string> take_line(std::string& received) {
  const std::size_t end = received.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received.substr(0, end);
  received.erase(0, end + 1);
  return line;
}

}  // namespace clbake::os
