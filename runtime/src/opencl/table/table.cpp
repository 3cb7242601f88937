#include "opencl/table/table.hpp"

#include "opencl/no_function.hpp"
#include "opencl/table/forward.hpp"
#include "opencl/table/functions.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::opencl {
namespace {

cl_icd_dispatch table;

}  // namespace

const cl_icd_dispatch& functions() { return table; }

void set_functions(const cl_icd_dispatch* from, std::size_t entries) {
  table = {};
  std::memcpy(&table, from, std::min(entries * sizeof(void*), sizeof table));
}

}  // namespace clbake::opencl

#define CLBAKE_DEFINED(n, name) CLBAKE_FORWARD(n, name, clbake::opencl::functions(), clbake::kNoFunction)
CLBAKE_RUNTIME_FUNCTIONS(CLBAKE_DEFINED)
CLBAKE_MORE_FUNCTIONS(CLBAKE_DEFINED)
