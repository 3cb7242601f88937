#include "serve/serve.hpp"

#include "serve/calls.hpp"
#include "serve/learning.hpp"

namespace clbake::layer::serve {
namespace {

// A function that the loader has not gets no replacement either.
template <typename Function>
void replace(Function& entry, Function with) {
  if (entry) entry = with;
}

}  // namespace

void install(cl_icd_dispatch& table) {
#define CLBAKE_REPLACE(name) replace(table.cl##name, static_cast<cl_api_cl##name>(calls::name));
  CLBAKE_SERVED_CALLS(CLBAKE_REPLACE)
  if (!learns()) return;
  CLBAKE_LEARNED_CALLS(CLBAKE_REPLACE)
#undef CLBAKE_REPLACE
}

}  // namespace clbake::layer::serve
