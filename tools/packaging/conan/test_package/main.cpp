// The package can be compiled and linked against, and runs.
#include <clbake/clbake.hpp>

#include <cstdio>

int main() {
  const clbake::Result<clbake::Bundle> bundle = clbake::Bundle::open("missing.clbake");
  std::printf("clbake %d: %s\n", clbake::version(), bundle.status().message().c_str());
  return clbake::version() == CLBAKE_VERSION_NUMBER && !bundle ? 0 : 1;
}
