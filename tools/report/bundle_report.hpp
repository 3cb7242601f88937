// The contents of a bundle, or of an index of slices, as the JSON of `inspect`.
#pragma once

#include "cli/json.hpp"

namespace clbake::tool {

// {"format", "file_bytes", "digest", "signatures": [...], "bytes", "stored_bytes", "ratio", "variants",
// "targets": [...], "summary": [...], "profiles": [...], "entries": [...]}; a row of "summary" counts the entries of
// the target with its index. Throws Failure, which names `file`, for a wrong record.
Json bundle_report(const Bundle& bundle, const std::string& file);

// {"release", "file_bytes", "digest", "signatures": [...], "programs", "bytes", "slices": [...]}; a row of "slices" has
// "file", "target", "device", "kinds", "forms", "bytes". Throws Failure as above.
Json index_report(const Bundle& index, const std::string& file);

// "16 cost models, 1 exception, 4 defaults", of one of "profiles".
std::string profile_text(const Json& profile);

}  // namespace clbake::tool
