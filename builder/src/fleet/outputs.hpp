// Files that pieces make, finished or not.
#pragma once

#include <clbake/builder/fleet/manifest.hpp>

namespace clbake::builder::fleet {

// True when the unfinished output of a tuning or a bake is intact: its command continues from it. Commands of other
// stages refuse a file that they did not write.
bool can_continue_from(Stage stage, const std::string& path);

}  // namespace clbake::builder::fleet
