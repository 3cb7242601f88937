#include <clbake/os/environment.hpp>
#include <clbake/os/installed.hpp>
#include <clbake/os/paths.hpp>

#include <unistd.h>
#include <algorithm>
#include <fstream>

namespace clbake::os {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVendors = "/etc/OpenCL/vendors";

std::vector<std::string> search_path() {
  std::vector<std::string> directories;
  const std::string path = variable("PATH").value_or("");
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    if (end > at) directories.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return directories;
}

// The variables of ocl-icd and of Khronos' loader.
std::string vendors() {
  for (const char* name : {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"}) {
    const std::string value = variable(name).value_or("");
    if (!value.empty()) return value;
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

}  // namespace

std::string find_program(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> directories = search_path();
  directories.insert(directories.end(), more.begin(), more.end());
  for (const std::string& directory : directories) {
    std::error_code error;
    const fs::path path = fs::absolute(fs::path(directory) / name, error);
    if (!error && fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) return path.string();
  }
  return {};
}

std::vector<OpenclDriver> opencl_drivers() {
  std::vector<OpenclDriver> drivers;
  for (const fs::path& path : icd_files()) {
    std::ifstream file(path);
    OpenclDriver driver{{}, path.string()};
    file >> driver.library;
    drivers.push_back(std::move(driver));
  }
  return drivers;
}

}  // namespace clbake::os
