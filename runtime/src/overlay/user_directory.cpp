#include <clbake/exceptions_to_status.hpp>
#include <clbake/overlay.hpp>

#include <cstdlib>
#include <string_view>

namespace clbake {
namespace {

// The variable's value when it is an absolute path, else an empty string. Also empty when the process has more rights
// than its user (setuid, setgid, capabilities): whoever starts it would choose what it runs.
std::string absolute_path(const char* variable) {
  const char* value = ::secure_getenv(variable);
  return value && value[0] == '/' ? value : std::string();
}

bool names_a_directory(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

}  // namespace

Result<std::string> user_cache_directory(const std::string& application) {
  return exceptions_to_status([&]() -> Result<std::string> {
    if (!names_a_directory(application)) {
      return {Argument::other, "application: \"" + application + "\" cannot name a directory"};
    }
    std::string caches = absolute_path("XDG_CACHE_HOME");
    if (caches.empty()) {
      caches = absolute_path("HOME");
      if (caches.empty()) {
        return {Code::not_found,
                "neither XDG_CACHE_HOME nor HOME is an absolute path, or the process has more rights than its user"};
      }
      caches += "/.cache";
    }
    return caches + "/" + application + "/clbake";
  });
}

}  // namespace clbake
