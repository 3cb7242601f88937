// Shared by the files of this folder.
#pragma once

namespace clbake::os::posix {

// Tells a child who started it: a process id.
constexpr const char* kParentVariable = "CLBAKE_PARENT";

}  // namespace clbake::os::posix
