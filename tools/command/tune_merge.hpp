// `clbake tune --merge`.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

// Joins profiles and writes the result to `output`; `force` joins even those of different devices. The choice of a
// single profile is fitted again. `brief`: keeps only the choice and a few winners. Returns the exit status.
int tune_merge(const std::vector<std::string>& files, bool force, bool brief, const std::string& output);

}  // namespace clbake::tool
