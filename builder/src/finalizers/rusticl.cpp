// Mesa's rusticl keeps SPIR-V and no machine code (22.3 to 24): nothing can be finalized. Its entries save the OpenCL C
// front end; the back end runs at every load, unless Mesa's own disk cache, which is the user's, has the result.
#include "finalizers.hpp"

namespace clbake::builder {
namespace {

bool fits(const Target& target) { return target.platform_name == "rusticl"; }

Result<std::vector<cache::Entry>> finalize(const Compiled& compiled) { return entry_of_binary(compiled.program); }

}  // namespace

const Finalizer& rusticl_finalizer() {
  static const Finalizer finalizer{"rusticl", fits, finalize,
                                   "rusticl keeps SPIR-V and no machine code: its entries still compile at load, so "
                                   "that little is gained from baking them"};
  return finalizer;
}

}  // namespace clbake::builder
