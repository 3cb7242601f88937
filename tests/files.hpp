// Files and bundles of the tests; all of it throws where it fails, which ends the test with the cause.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <stdexcept>
#include <string>

namespace clbake::tests {

template <typename T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

// The end of a message about a file that is not there.
const std::string& no_such_file();

// Empty for a file that is not there.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

cache::Bytes encoded(const cache::Contents& contents);
cache::Contents contents_of(const std::string& path);  // of the bundle there
void write_bundle(const std::string& path, const cache::Contents& contents);

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace clbake::tests
