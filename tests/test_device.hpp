// The device that driver tests run on.
#pragma once

#include <clbake/builder/devices.hpp>

namespace clbake::tests {

// PoCL if this machine has it, else the first device. Without any the whole program ends as skipped (77). The first
// call points every driver's cache of this process to a directory of its own.
const builder::Device& device();

bool on_pocl();

}  // namespace clbake::tests
