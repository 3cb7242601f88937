// Recordings as `clbake build --programs` takes them: one odd launch does not cost the rest.
#pragma once

#include "recording/recording.hpp"

#include <set>
#include <string>
#include <vector>

namespace clbake::tool {

// Leaves out what the builder's reader refuses: trials, which become reasons in their kernel's `untried`; kernels and
// programs, which `notes` names. Makes one of programs that the builder takes for the same. `directory`: has the files.
void fit(std::vector<RecordedProgram>& programs, const std::string& directory, std::set<std::string>& notes);

}  // namespace clbake::tool
