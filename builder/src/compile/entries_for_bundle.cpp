#include "compile/entries_for_bundle.hpp"

#include <clbake/builder/platforms.hpp>

namespace clbake::builder {

Result<std::vector<cache::Entry>> entries_for_bundle(const Compiled& compiled, const cache::Source& source) {
  return builder_platform_of(compiled.target).assembles ? finalize_nvidia(compiled, source) : finalize(compiled);
}

cache::Tool this_clbake() { return {"clbake", CLBAKE_VERSION}; }

void sign(std::vector<cache::Entry>& entries) {
  for (cache::Entry& entry : entries) entry.proof.tools.insert(entry.proof.tools.begin(), this_clbake());
}

}  // namespace clbake::builder
