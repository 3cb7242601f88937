// Shared by the tests of trust: keys that are always the same, and the fake driver's bundle with digests.
#pragma once

#include "faults/fake_scene.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/seal.hpp>
#include <clbake/trust.hpp>

#include <string>
#include <vector>

namespace clbake::test {

// An Ed25519 key made from a seed of 32 equal bytes.
class Key {
 public:
  explicit Key(std::uint8_t seed);
  const Digest& bytes() const { return public_key_; }
  std::string text() const { return hexadecimal(public_key_); }
  cache::Signature sign(const Bundle& bundle, std::uint64_t release) const;

 private:
  Digest public_key_{};
  std::array<std::uint8_t, 64> secret_key_{};
};

// The bundle of the fake driver with digests, without signatures; made once.
const cache::Bytes& unsigned_bytes();

// `bytes` with these keys' signatures for the release, and no others.
cache::Bytes signed_by(const std::vector<Key>& keys, std::uint64_t release,
                       const cache::Bytes& bytes = unsigned_bytes());

// A copy of the bytes, opened. Throws when they are no bundle.
Bundle opened(const cache::Bytes& bytes);

// Options with this trust. Throws what is wrong with it.
Options trusting(Result<std::shared_ptr<const Trust>> trust);
Options trusting(const std::vector<Key>& keys, std::uint64_t minimum_release = 0);

// The identity of the bundle.
std::string digest_of(const cache::Bytes& bytes);

}  // namespace clbake::test
