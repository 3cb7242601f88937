#include "log.hpp"

#include <clbake/os/appended_file.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/guest.hpp>

namespace clbake::door {
namespace {

// Closed by the end of the process: libraries log until then.
const os::AppendedFile* opened() {
  const std::string path = environment("CLBAKE_CLBLAST_LOG");
  if (path.empty()) return nullptr;
  Result<os::AppendedFile> file = os::AppendedFile::open(path);
  return file ? new os::AppendedFile(std::move(*file)) : nullptr;
}

}  // namespace

std::string environment(const char* name) { return os::trusted_variable(name).value_or(""); }

void log(const std::string& line) {
  static const os::AppendedFile* const file = opened();
  if (!file) return;
  // One call, so that lines of several threads and processes stay whole.
  static_cast<void>(file->append("clbake-clblast[" + std::to_string(os::process_id()) + "]: " + line + "\n"));
}

}  // namespace clbake::door
