// The programs of cases.hpp as clang and ptxas make them.
#pragma once

#include <clbake/cache/model.hpp>
#include "cases.hpp"

namespace clbake::tests {

// Machine code for an architecture such as sm_90. The folder that CLBAKE_TEST_CUBINS names, where it is set, keeps it
// for a machine that lacks the compilers. Throws with the compiler's first error.
cache::Bytes baked(const NvidiaProgram& program, const std::string& architecture);

// True when this machine has clang, libclc and a ptxas that knows the architecture.
bool bakes_for(const std::string& architecture);

}  // namespace clbake::tests
