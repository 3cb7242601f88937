#include "recording/recorded_files.hpp"

#include "cli/cli.hpp"

#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>

#include <limits>
#include <stdexcept>

namespace clbake::tool {
namespace {

namespace fs = std::filesystem;

bool is_in(const std::string& name, const std::string& folder, const std::string& ending) {
  if (name.size() <= folder.size() + ending.size() || name.compare(0, folder.size(), folder) != 0) return false;
  const std::size_t end = name.size() - ending.size();
  return name.find_first_not_of("0123456789abcdef", folder.size()) == end &&
         name.compare(end, ending.size(), ending) == 0;
}

bool is_file_name(const std::string& name) {
  return is_in(name, "sources/", ".cl") || is_in(name, "sources/", ".h") || is_in(name, "sources/", ".spv") ||
         is_in(name, "data/", ".bin");
}

void add_names(const Json& fields, std::set<std::string>& names) {
  for (const auto& [key, value] : fields.items()) {
    if (value.is_structured()) add_names(value, names);
    const bool is_file = key == "source" || key == "sources" || key == "il" || key == "file";
    if (is_file && value.is_string()) names.insert(value.get<std::string>());
    if (key != "sources" || !value.is_array()) continue;
    for (const Json& source : value) {
      if (source.is_string()) names.insert(source.get<std::string>());
    }
  }
}

}  // namespace

std::set<std::string> file_names(const Json& fields) {
  std::set<std::string> names;
  add_names(fields, names);
  return names;
}

void check_files(const std::string& directory, const Json& fields) {
  for (const std::string& name : file_names(fields)) {
    if (!is_file_name(name)) throw std::invalid_argument("'" + name + "' is no name of a file that a recording has");
    const fs::path path = os::native(directory + "/" + name);
    std::error_code ignored;
    const bool is_there = fs::is_directory(fs::symlink_status(path.parent_path(), ignored)) &&
                          fs::is_regular_file(fs::symlink_status(path, ignored));
    if (!is_there) throw std::invalid_argument(os::utf8(path) + ": is no file");
  }
}

std::string bytes_of(const std::string& path) {
  Result<std::string> bytes = os::read_file(path, std::numeric_limits<std::uintmax_t>::max());
  if (!bytes) throw Failure(path + ": cannot be read");
  return std::move(*bytes);
}

void make_private_directory(const fs::path& path) {
  std::error_code error;
  if (fs::create_directories(path, error)) fs::permissions(path, fs::perms::owner_all, error);
  if (error) throw Failure(os::utf8(path) + ": cannot be made: " + error.message());
}

void write_private(const std::string& directory, const std::string& name, const std::string& bytes) {
  const fs::path path = os::native(directory + "/" + name);
  const bool is_inside = name.find('/') != std::string::npos;
  make_private_directory(path.parent_path());
  std::error_code ignored;
  if (is_inside && fs::is_symlink(fs::symlink_status(path.parent_path(), ignored))) {
    throw Failure(os::utf8(path.parent_path()) + ": is no directory that can be written");
  }
  const Status written = os::write_private_file(os::utf8(path), bytes);
  if (!written) throw Failure(written.message());
}

}  // namespace clbake::tool
