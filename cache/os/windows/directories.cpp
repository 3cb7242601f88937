#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>

#include <algorithm>
#include <cctype>

namespace clbake::os {
namespace {

constexpr const char* kSlashes = "/\\";

bool is_slash(char c) { return c == '/' || c == '\\'; }

// "C:" or "//server/share"; empty unless the path is absolute.
std::string drive_of(const std::string& path) {
  if (!is_absolute(path)) return {};
  if (!is_slash(path[0])) return path.substr(0, 2);
  const std::size_t share = path.find_first_of(kSlashes, 2);
  return share == path.npos ? path : path.substr(0, path.find_first_of(kSlashes, share + 1));
}

// "nul", "com1.txt": names of devices in every directory.
bool is_device(std::string name) {
  name.resize(std::min(name.find('.'), name.size()));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* device : {"con", "prn", "aux", "nul"}) {
    if (name == device) return true;
  }
  return name.size() == 4 && (name.rfind("com", 0) == 0 || name.rfind("lpt", 0) == 0) && name[3] >= '0' &&
         name[3] <= '9';
}

}  // namespace

bool is_absolute(const std::string& path) {
  const bool has_drive = path.size() >= 3 && std::isalpha(static_cast<unsigned char>(path[0])) && path[1] == ':';
  if (has_drive) return is_slash(path[2]);
  return path.size() >= 3 && is_slash(path[0]) && is_slash(path[1]) && !is_slash(path[2]);
}

std::string path_in(const std::string& folder, const std::string& path) {
  if (path.empty() || is_absolute(path)) return path;
  return (is_slash(path[0]) ? drive_of(folder) : folder) + path;
}

bool is_plain_name(const std::string& name) {
  const auto is_forbidden = [](unsigned char c) {
    return c < ' ' || std::string_view("<>:\"/\\|?*").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !name.empty() && name.back() != '.' && name.back() != ' ' && !is_device(name) &&
         std::none_of(name.begin(), name.end(), is_forbidden);
}

Result<std::string> user_cache_directory() {
  const std::optional<std::string> caches = trusted_variable("LOCALAPPDATA");
  if (caches && is_absolute(*caches)) return *caches;
  return {Code::not_found, "LOCALAPPDATA is not an absolute path"};
}

}  // namespace clbake::os
