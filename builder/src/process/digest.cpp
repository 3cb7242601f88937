#include "process/digest.hpp"

#include <clbake/cache/xxh64.hpp>

#include <cinttypes>
#include <cstdio>

namespace clbake::builder::process {

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
