// Prints whether this process has more rights than its user, and what user_cache_directory says.
#include <clbake/overlay.hpp>

#include <sys/auxv.h>
#include <cstdio>

int main() {
  const clbake::Result<std::string> directory = clbake::user_cache_directory("my-app");
  const std::string says = directory ? *directory : std::string(clbake::name(directory.status().code()));
  std::printf("%s: %s\n", ::getauxval(AT_SECURE) != 0 ? "more rights" : "as its user", says.c_str());
}
