// `clbake tune --merge`.
#pragma once

#include <string>
#include <vector>

namespace clbake::tool {

// Writes what the profiles know together to `output`, with `force` even though they do not belong together; of a single
// one what follows from it. `brief`: only what winners and rules need. Returns the exit status.
int tune_merge(const std::vector<std::string>& files, bool force, bool brief, const std::string& output);

}  // namespace clbake::tool
