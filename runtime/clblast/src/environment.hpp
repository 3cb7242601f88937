// The environment variables of this component: CLBLAST.md lists them.
#pragma once

#include <cstdlib>
#include <string>

namespace clbake::door {

// The variable's value; empty when it is not set. Also empty when the process has more rights than its user, as the
// variables name code.
inline std::string environment(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

}  // namespace clbake::door
