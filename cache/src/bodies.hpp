// Bodies as values: FORMAT.md, "Bodies". Messages name the cause; the caller puts the place in front.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// The canonical encoding: equal targets, and no others, have equal bytes.
Bytes encode_target(const Target& target);

// Each takes a verified body and fails with malformed or unsupported_version.
Result<Target> parse_target(ByteView body);
Result<Source> parse_source(ByteView body);
Result<Variant> parse_variant(ByteView body, std::uint32_t source_count);
Result<Profile> parse_profile(ByteView body, std::uint32_t target, std::uint32_t variant_count);

// The texts of a proof, all empty for no bytes at all. `encode_texts` gives no bytes for empty texts.
Bytes encode_texts(const Proof& proof);
Status parse_texts(ByteView body, Proof& proof);

}  // namespace clbake::cache
