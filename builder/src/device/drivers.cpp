// Why an installed OpenCL driver offers no platform. The ICD loader skips a driver that it cannot load without a word,
// so its search is repeated here, and each library is opened for the system's message.
#include <clbake/builder/devices.hpp>
#include <clbake/os/installed.hpp>
#include <clbake/os/libraries.hpp>

namespace clbake::builder {

// A library stays loaded: the loader has loaded it before, and some drivers crash when they are unloaded.
std::vector<std::string> unloadable_drivers() {
  std::vector<std::string> failures;
  for (const os::OpenclDriver& driver : os::opencl_drivers()) {
    if (driver.library.empty()) {
      failures.push_back(driver.named_by + " names no library");
      continue;
    }
    const Result<os::LibraryHandle> library = os::open_library(driver.library);
    if (!library) failures.push_back(driver.named_by + ": " + library.status().message());
  }
  return failures;
}

}  // namespace clbake::builder
