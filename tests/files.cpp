#include "files.hpp"

#include <clbake/cache/reader.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>

#include <fstream>
#include <sstream>

namespace clbake::tests {

const std::string& no_such_file() {
  static const std::string text = [] {
    const std::string message = os::read_file("none", 1).status().message();
    return message.substr(message.rfind(": ") + 2);
  }();
  return text;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

cache::Bytes encoded(const cache::Contents& contents) { return required(cache::encode(contents)); }

cache::Contents contents_of(const std::string& path) { return required(required(cache::Bundle::open(path)).decode()); }

void write_bundle(const std::string& path, const cache::Contents& contents) {
  const cache::Bytes bytes = encoded(contents);
  const Status written = cache::write_file(path, {bytes.data(), bytes.size()});
  if (!written) throw std::runtime_error(written.message());
}

}  // namespace clbake::tests
