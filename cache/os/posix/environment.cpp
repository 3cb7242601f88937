#include <clbake/os/environment.hpp>

#include <unistd.h>
#if __has_include(<sys/auxv.h>)
#include <sys/auxv.h>
#endif
#include <cstdlib>

namespace clbake::os {
std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

bool is_privileged() {
#if __has_include(<sys/auxv.h>)
  return ::getauxval(AT_SECURE) != 0;
#else
  return ::issetugid() != 0;
#endif
}

std::optional<std::string> trusted_variable(const std::string& name) {
  return is_privileged() ? std::nullopt : variable(name);
}

}  // namespace clbake::os
