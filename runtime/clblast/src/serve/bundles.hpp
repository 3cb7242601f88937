// Where the programs come from.
#pragma once

#include <clbake/clbake.hpp>

#include <memory>
#include <string>
#include <vector>

namespace clbake::door {

// The bundles that there are, best first: use_bundle's, CLBAKE_CLBLAST_BUNDLE's (paths with colons between them), that
// beside this library (clbake/clblast.clbake), and the sources of the kernels. Those of files are opened at the first
// call; what cannot be opened goes to the log. Any thread.
std::vector<Bundle> bundles();

// The path of the bundle beside this library; empty when that is unknown.
std::string installed_bundle();

// A file that comes before all others. Fails as opening does; nothing changed then.
Status use_bundle(const std::string& path);

// What was compiled for earlier processes: in the user's cache directory, unless CLBAKE_CLBLAST_OVERLAY says "off".
// Null when it cannot be opened, which goes to the log.
std::shared_ptr<OverlayStore> overlay();

}  // namespace clbake::door
