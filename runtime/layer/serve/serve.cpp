#include "serve/serve.hpp"

#include "down.hpp"
#include "serve/calls.hpp"
#include "serve/learning.hpp"

namespace clbake::layer::serve {

void install(cl_icd_dispatch& table) {
#define CLBAKE_REPLACE(name) replace(table.cl##name, calls::name);
  CLBAKE_SERVED_CALLS(CLBAKE_REPLACE)
  if (!learns()) return;
  CLBAKE_LEARNED_CALLS(CLBAKE_REPLACE)
#undef CLBAKE_REPLACE
}

}  // namespace clbake::layer::serve
