// An index of slices, as the JSON of `inspect`.
#pragma once

#include "cli/json.hpp"

namespace clbake::tool {

// {"release", "file_bytes", "digest", "signatures": [...], "programs", "bytes", "slices": [...]}; a row of "slices" has
// "file", "target", "device", "kinds", "forms", "bytes". Throws Failure, which names `file`, for a wrong record.
Json index_report(const Bundle& index, const std::string& file);

}  // namespace clbake::tool
