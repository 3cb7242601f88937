// Leaving out of a bundle's contents what nothing refers to.
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::builder::release {

// Removes profiles that say nothing, then the targets without entries and profile, the variants that no entry and no
// profile names, and the sources that no variant names. The rest keeps its order.
// `programs`: the application's own stay where no entry is left of them, too, as sources; it asks for them by name.
void keep_used(cache::Contents& contents, bool programs = false);

}  // namespace clbake::builder::release
