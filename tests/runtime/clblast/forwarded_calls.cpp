// The forwarded calls as a program: aarch64.sh runs it.
#include "clblast/forwarded_calls.hpp"

#include <cstdio>

using namespace clbake::tests;

int main() {
  bool all = true;
  const auto check = [&](const char* what, bool arrived) {
    if (!arrived) std::printf("lost arguments: %s\n", what);
    all = all && arrived;
  };
  for (int i = 0; i < 2; ++i) {  // by way of the lookup, and directly
    check("every register", every_register_arrives());
    check("real", real_routine_arrives());
    check("complex", complex_routine_arrives());
    check("C", routine_of_c_arrives());
    check("references", references_arrive());
  }
  return all ? 0 : 1;
}
