// The contents of a bundle, as the JSON of `inspect`.
#pragma once

#include "cli/json.hpp"

namespace clbake::tool {

// {"format", "file_bytes", "digest", "signatures": [...], "bytes", "stored_bytes", "ratio", "variants",
// "targets": [...], "summary": [...], "profiles": [...], "entries": [...]}; a row of "summary" counts the entries of
// the target with its index. Throws Failure, which names `file`, for a wrong record.
Json bundle_report(const Bundle& bundle, const std::string& file);

// The digest, and the signatures with their validity; null where they cannot be told: without digests or libsodium.
Json digest_json(const Bundle& bundle);
Json signatures_json(const Bundle& bundle);

// "16 cost models, 1 exception, 4 defaults", of one of "profiles".
std::string profile_text(const Json& profile);

}  // namespace clbake::tool
