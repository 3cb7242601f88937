#include <clbake/os/environment.hpp>

#include <sys/auxv.h>
#include <cstdlib>

namespace clbake::os {
std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

bool is_privileged() { return ::getauxval(AT_SECURE) != 0; }

std::optional<std::string> trusted_variable(const std::string& name) {
  return is_privileged() ? std::nullopt : variable(name);
}

}  // namespace clbake::os
