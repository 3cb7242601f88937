#include "compile/entries_for_bundle.hpp"

namespace clbake::builder {

bool has_machine_code_of_its_own(const Target& target) { return target.platform_name == "NVIDIA CUDA"; }

Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source) {
  return has_machine_code_of_its_own(compiled.target) ? finalize_nvidia(compiled, source) : finalize(compiled);
}

cache::Tool this_clbake() { return {"clbake", CLBAKE_VERSION}; }

void sign(std::vector<cache::Entry>& entries) {
  for (cache::Entry& entry : entries) entry.proof.tools.insert(entry.proof.tools.begin(), this_clbake());
}

const char* remark_on(const Target& target) {
  // Seen with 22.3 to 24: an entry saves the OpenCL C front end; the back end runs at every load unless Mesa's disk
  // cache on the user's machine has the result.
  if (target.platform_name != "rusticl") return nullptr;
  return "rusticl keeps SPIR-V and no machine code: its entries still compile at load, so that little is gained from "
         "baking them";
}

}  // namespace clbake::builder
