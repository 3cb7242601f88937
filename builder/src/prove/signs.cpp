#include "prove/signs.hpp"

#include <clbake/cache/writer.hpp>
#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/usage.hpp>

#include "process/text_file.hpp"

#include <algorithm>
#include <sstream>

namespace clbake::builder::prove {
namespace {

constexpr std::uintmax_t kControlBytes = 1 << 16;  // far more than any has
constexpr double kCheapestUs = 20000;              // of processor time: the cheapest compilation that limits can tell
constexpr const char* kFiles = "files";
constexpr const char* kLibrary = "library ";
constexpr const char* kChildren = "children";
constexpr const char* kInProcess = "in-process";

// Files that come and go while they are listed are passed over.
void add_files(const std::string& directory, std::map<std::string, std::uintmax_t>& files) {
  const Result<std::vector<os::Item>> items = os::list_directory(directory);
  if (!items) return;
  for (const os::Item& item : *items) {
    if (item.is_file) files[item.path] = item.bytes;
    if (item.is_directory) add_files(item.path, files);
  }
}

std::set<std::string> library_names(const std::string& directory) {
  std::set<std::string> names;
  for (const std::string& path : os::loaded_libraries()) {
    const bool in_cache = !directory.empty() && path.rfind(directory, 0) == 0;
    if (!in_cache) names.insert(os::file_name_of(path));
  }
  return names;
}

}  // namespace

Signs signs_now(const std::string& directory) {
  Signs signs;
  if (!directory.empty()) add_files(directory, signs.files);
  signs.libraries = library_names(directory);
  signs.children = os::running_children();
  signs.ended = os::ended_children();
  signs.processor_us = processor_time_us();
  return signs;
}

double processor_time_us() { return static_cast<double>(os::processor_time().count()); }

std::vector<std::string> with_extension(const std::map<std::string, std::uintmax_t>& files,
                                        const std::string& extension) {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files) {
    if (extension.empty() || os::native(path).extension() == extension) paths.push_back(path);
  }
  return paths;
}

Signs since(const Signs& before, const Signs& now) {
  Signs fresh;
  std::set_difference(now.files.begin(), now.files.end(), before.files.begin(), before.files.end(),
                      std::inserter(fresh.files, fresh.files.end()));
  std::set_difference(now.libraries.begin(), now.libraries.end(), before.libraries.begin(), before.libraries.end(),
                      std::inserter(fresh.libraries, fresh.libraries.end()));
  std::set_difference(now.children.begin(), now.children.end(), before.children.begin(), before.children.end(),
                      std::inserter(fresh.children, fresh.children.end()));
  fresh.ended = now.ended - before.ended;
  fresh.processor_us = now.processor_us - before.processor_us;
  return fresh;
}

Control control_of(const Signs& on_purpose, const std::string& extension) {
  Control control;
  control.files = !with_extension(on_purpose.files, extension).empty();
  control.libraries = on_purpose.libraries;
  control.children = on_purpose.has_children();
  control.in_process = on_purpose.processor_us > kCheapestUs;
  return control;
}

Control without(Control control, const Signs& of_a_load) {
  control.files = control.files && of_a_load.files.empty();
  for (const std::string& library : of_a_load.libraries) control.libraries.erase(library);
  control.children = control.children && !of_a_load.has_children();
  return control;
}

Status write_control(const std::string& path, const Control& control) {
  std::string text;
  if (control.files) text += std::string(kFiles) + "\n";
  for (const std::string& library : control.libraries) text += kLibrary + library + "\n";
  if (control.children) text += std::string(kChildren) + "\n";
  if (control.in_process) text += std::string(kInProcess) + "\n";
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Control read_control(const std::string& path) {
  Control control;
  const Result<std::string> text = process::read_text_file(path, kControlBytes);
  if (!text) return control;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    control.files = control.files || line == kFiles;
    control.children = control.children || line == kChildren;
    control.in_process = control.in_process || line == kInProcess;
    if (line.rfind(kLibrary, 0) == 0) control.libraries.insert(line.substr(std::string(kLibrary).size()));
  }
  return control;
}

}  // namespace clbake::builder::prove
