// What earlier attempts at a piece left.
#pragma once

#include <clbake/builder/fleet/manifest.hpp>

#include <string>

namespace clbake::builder {

// Whether an unfinished output is intact and its command takes it up: of a tuning or a bake. Any other would at best be
// of no use, and at worst be refused as a file that clbake did not write.
bool can_go_on_from(Stage stage, const std::string& path);

}  // namespace clbake::builder
