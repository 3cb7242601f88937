// Bundles for the tests of cache/, and how to compare them.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/cache/reader.hpp>
#include <clbake/cache/writer.hpp>

#include <string>

namespace clbake::cache::test {

// Two targets of one device under two drivers and one of another device, two sources, three variants, two profiles and
// five entries, two of which share a program. In the order of the file, so that `decode` returns the same.
// Frozen: the golden file of version 1.0 holds it.
Contents small_contents();

// An application's programs: one with a trial and a build log, one that is linked, whose launches nobody knows. Frozen:
// a golden file holds them.
Contents program_contents();

// Programs of 600 bytes of three variants for four drivers of one device; those of one variant differ in a few bytes.
// Those of the first two variants have noise, which zstd cannot make smaller. Frozen: a golden file holds it.
Contents similar_contents();

// `pack`ed similar contents, made once: with dictionaries of both methods.
const Bytes& packed_bundle();

// A digest for tests: four XXH64 of different seeds.
void test_digest(ByteView bytes, std::uint8_t* digest);

// Admits bytes by their test_digest, and keeps what it was shown.
class TestGuard : public Guard {
 public:
  Result<ByteView> admit(ByteView stored, const std::uint8_t* digest, Bytes& copy) const override;
  mutable std::size_t shown = 0, admitted = 0;  // blobs
};

// `pack`ed small contents with digests and two signatures, which are made up; made once.
const Bytes& signed_bundle();

// `encode`; throws when it fails.
Bytes encoded(const Contents& contents);

// The encoded small contents, made once.
const Bytes& small_bundle();

inline ByteView view_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

Result<Bundle> open_bytes(const Bytes& bytes);

// The checksum of the encoded contents: equal contents have equal ones, whatever the order of their lists.
std::string fingerprint(const Contents& contents);

// The same contents with all lists shuffled and the indices renumbered.
Contents shuffled(const Contents& contents, unsigned seed);

// "ok", or the code's name.
inline std::string outcome(const Status& status) { return std::string(name(status.code())); }

template <typename T>
std::string outcome(const Result<T>& result) {
  return std::string(name(result.status().code()));
}

}  // namespace clbake::cache::test
