// Bodies of blobs as values and as bytes: FORMAT.md, "Bodies". Messages name the cause; the caller prefixes the record.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// Equal values, and no others, have equal bytes. Indices are those of the file. The caller checks the values first.
Bytes encode_target(const Target& target);
Bytes encode_source(const Source& source);
Bytes encode_variant(const Variant& variant, std::uint32_t source, std::uint32_t trial);
Bytes encode_profile(const Profile& profile, const std::vector<std::uint32_t>& variant_index);  // by old index
Bytes encode_texts(const Proof& proof);  // no bytes when there are no tools and no texts

// Each takes a verified body and fails with malformed or unsupported_version.
Result<Target> parse_target(ByteView body);
Result<Source> parse_source(ByteView body);
Result<Variant> parse_variant(ByteView body, std::uint32_t source_count);
Result<Profile> parse_profile(ByteView body, std::uint32_t target, std::uint32_t variant_count);
// Fills in the tools and texts of a proof whose record was read; nothing for no bytes.
Status parse_texts(ByteView body, Proof& proof);

// The rules of FORMAT.md for values, which reader and writer share. Fail with malformed or unsupported_version.
Status check_variant(const Variant& variant, std::size_t source_count);
Status check(const Rule& rule, std::size_t variant_count);
Status check_texts(const Proof& proof);
Status check(const CostModel& model, std::size_t variant_count);
Status check_profile(const Profile& profile);  // beyond its rules and cost models

}  // namespace clbake::cache
