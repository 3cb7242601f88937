// The bundles and the overlay that the door serves from.
#pragma once

#include <clbake/clbake.hpp>

#include <memory>
#include <string>
#include <vector>

namespace clbake::door {

// The available bundles, best first: use_bundle's, CLBAKE_CLBLAST_BUNDLE's (paths with colons between them), the one
// beside this library (clbake/clblast.clbake), and the sources of the kernels. Files are opened at the first call; a
// failure goes to the log. Any thread.
std::vector<Bundle> bundles();

// The path of the bundle beside this library; empty when that is unknown.
std::string installed_bundle();

// Puts a file before all others. Fails as Bundle::open does, and then changes nothing.
Status use_bundle(const std::string& path);

// The programs that earlier processes compiled, in the user's cache directory. Null when CLBAKE_CLBLAST_OVERLAY is
// "off", and when it cannot be opened, which goes to the log.
std::shared_ptr<OverlayStore> overlay();

}  // namespace clbake::door
