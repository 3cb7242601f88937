// Programs whose kernels compute an expression each.
#pragma once

#include "cases.hpp"

namespace clbake::tests {

std::vector<NvidiaProgram> expressions();

}  // namespace clbake::tests
