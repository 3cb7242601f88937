#include "log.hpp"

#include <clbake/os/guest.hpp>

#include <algorithm>
#include <utility>

namespace clbake::layer {
namespace {

// Never destroyed: a driver's thread may still report when the process ends.
os::LogFile*& the_log() {
  static os::LogFile* only = nullptr;
  return only;
}

}  // namespace

void open_log(const std::string& where) {
  if (where.empty()) return;
  Result<os::LogFile> opened = where == "stderr" ? os::LogFile::to_stderr() : os::LogFile::at(where);
  if (opened) the_log() = new os::LogFile(std::move(*opened));
}

bool logs() noexcept { return the_log() != nullptr; }

void log(const std::string& message) noexcept {
  if (!logs()) return;
  try {
    std::string line = "clbake: " + message;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    the_log()->write(line);
  } catch (...) {  // no memory for a line
  }
}

}  // namespace clbake::layer
