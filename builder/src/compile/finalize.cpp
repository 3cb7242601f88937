#include "compile/finalize.hpp"

#include "compile/nvidia/finalize_nvidia.hpp"

namespace clbake::builder {

Result<std::vector<cache::Entry>> finalize_in_child(const Compiled& compiled, const cache::Source& source) {
  return compiled.target.platform_name == "NVIDIA CUDA" ? finalize_nvidia(compiled, source) : finalize(compiled);
}

cache::Tool this_clbake() { return {"clbake", CLBAKE_VERSION}; }

void sign(std::vector<cache::Entry>& entries) {
  for (cache::Entry& entry : entries) entry.proof.tools.insert(entry.proof.tools.begin(), this_clbake());
}

const char* remark_on(const Target& target) {
  // 22.3 to 24. Its entries save the OpenCL C front end; the back end runs at every load, unless Mesa's own disk cache,
  // which is the user's, has the result.
  if (target.platform_name != "rusticl") return nullptr;
  return "rusticl keeps SPIR-V and no machine code: its entries still compile at load, so that little is gained from "
         "baking them";
}

}  // namespace clbake::builder
