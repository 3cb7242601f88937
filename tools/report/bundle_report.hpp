// The contents of a bundle: the JSON of `inspect`, and its texts for people.
#pragma once

#include "cli/json.hpp"

namespace clbake::tool {

// {"format", "file_bytes", "digest", "signatures": [...], "bytes", "stored_bytes", "ratio", "variants",
// "targets": [...], "profiles": [...], "entries": [...]}. Fails with what is wrong with a record.
Result<Json> bundle_report(const Bundle& bundle);

// The functions below take that JSON.

// The size, and for each target its kinds, proofs and the size of its profile, and why entries are not JIT-free.
void print_summary(const Json& report, const std::string& file);
void print_entries(const Json& report);
void print_profiles(const Json& report);

}  // namespace clbake::tool
