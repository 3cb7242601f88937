#include <clbake/os/environment.hpp>

#include <unistd.h>
#include <cstdlib>
#include <cstring>

namespace clbake::os {

bool set_variable(const std::string& name, const std::string& value) {
  return ::setenv(name.c_str(), value.c_str(), 1) == 0;
}

bool unset_variable(const std::string& name) { return ::unsetenv(name.c_str()) == 0; }

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> all;
  for (const char* const* item = ::environ; item && *item; ++item) {
    const char* const equals = std::strchr(*item, '=');
    if (equals) all.emplace(std::string(*item, equals), equals + 1);
  }
  return all;
}

}  // namespace clbake::os
