// The variants that every bundle holds for the problems and devices that it was not baked for.
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::builder::profile {

// Adds, unless they are there, a profile for every CPU and one for every other device (cache::any_device), and the
// default variants that their rules name for every precision and pair of transposes. The variants have sources and no
// entries: the runtime compiles them when no other profile has a rule for a problem, or is about such a device. A
// variant of that name which is there already is used as it is. Contents with an application's own programs and nothing
// else stay as they are.
void add_default_targets(cache::Contents& contents);

bool is_default_target(const cache::Target& target);

}  // namespace clbake::builder::profile
