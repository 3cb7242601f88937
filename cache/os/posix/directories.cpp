#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>

namespace clbake::os {

bool is_absolute(const std::string& path) { return !path.empty() && path[0] == '/'; }

std::string path_in(const std::string& folder, const std::string& path) {
  return path.empty() || is_absolute(path) ? path : folder + path;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string("/\0", 2)) == name.npos;
}

Result<std::string> user_cache_directory() {
  const auto absolute_path = [](const char* name) {
    const std::optional<std::string> path = trusted_variable(name);
    return path && is_absolute(*path) ? *path : std::string();
  };
  const std::string caches = absolute_path("XDG_CACHE_HOME");
  if (!caches.empty()) return caches;
  const std::string home = absolute_path("HOME");
  if (!home.empty()) return home + "/.cache";
  return {Code::not_found,
          "neither XDG_CACHE_HOME nor HOME is an absolute path, or the process has more rights than its user"};
}

}  // namespace clbake::os
