// Why an installed OpenCL driver offers no platform. The ICD loader skips a driver that it cannot load without a word,
// so its search is repeated here: the same .icd files, and dlopen for its message.
#include <clbake/builder/devices.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace clbake::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendors = "/etc/OpenCL/vendors";

// The variables of ocl-icd and of Khronos' loader.
std::string vendors() {
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
    const char* value = std::getenv(name);
    if (value && *value) return value;
  }
  return kVendors;
}

// In a directory of drivers all .icd files; ocl-icd also takes the path of one, or its name in the usual directory.
std::vector<fs::path> icd_files() {
  const fs::path place = vendors();
  std::error_code error;
  if (!fs::is_directory(place, error)) return {fs::exists(place, error) ? place : fs::path(kVendors) / place};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".icd") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The library stays loaded: the loader has loaded it before, and some drivers crash when they are unloaded.
std::string load_failure(const fs::path& icd) {
  std::ifstream file(icd);
  std::string library;
  if (!(file >> library)) return icd.string() + " names no library";
  if (dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL)) return {};
  const char* cause = dlerror();
  return icd.string() + ": " + (cause ? cause : library + " cannot be loaded");
}

}  // namespace

std::vector<std::string> unloadable_drivers() {
  std::vector<std::string> failures;
  for (const fs::path& icd : icd_files()) {
    std::string failure = load_failure(icd);
    if (!failure.empty()) failures.push_back(std::move(failure));
  }
  return failures;
}

}  // namespace clbake::builder
