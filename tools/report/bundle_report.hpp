// The contents of a bundle: the JSON of `inspect`, and its text for people.
#pragma once

#include "cli/json.hpp"

namespace clbake::tool {

// {"format", "file_bytes", "digest", "signatures": [...], "bytes", "stored_bytes", "ratio", "variants",
// "targets": [...], "summary": [...], "profiles": [...], "entries": [...]}; a row of "summary" counts the entries of
// the target with its index. Throws Failure for what is wrong with a
// record.
Json bundle_report(const Bundle& bundle);

// The functions below take that JSON.

// The size, who signed it, a line for each target, and why entries are not JIT-free.
void print_summary(const Json& report, const std::string& file);
void print_entries(const Json& report);
void print_profiles(const Json& report);

// "16 cost models, 1 exception, 4 defaults", of one of "profiles".
std::string profile_text(const Json& profile);

}  // namespace clbake::tool
