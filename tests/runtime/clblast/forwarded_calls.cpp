// The forwarded calls as a program: aarch64.sh runs it.
#include "clblast/forwarded_calls.hpp"

#include <cstdio>

int main() {
  const std::string lost = clbake::tests::calls_that_lost_arguments();
  if (!lost.empty()) std::printf("lost arguments: %s\n", lost.c_str());
  return lost.empty() ? 0 : 1;
}
