// Digests, signatures and key files: cache/FORMAT.md, "Digests and signatures". The cryptography is libsodium's; a
// clbake that was built without it writes bundles without digests, and what else is here fails with invalid_argument.
#pragma once

#include <clbake/cache/pack.hpp>
#include <clbake/trust.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clbake::builder::release {

// The digest function for writing bundles; null without libsodium. The rest of the options is that of PackOptions.
cache::DigestFunction digest_function();

// Compares each blob of the bundle with its digest. Ok without digests, or without libsodium.
Status check_digests(const cache::Bundle& bundle);

// The bundle's identity, 64 hexadecimal digits. Fails with not_trusted without digests.
Result<std::string> identity_text(const cache::Bundle& bundle);

struct SignatureReport {
  std::string public_key;  // 64 hexadecimal digits
  std::uint64_t release = 0;
  bool valid = false;  // it is that key's; says nothing about whose key it is
};

// The bundle's signatures. Fails if their records are damaged.
Result<std::vector<SignatureReport>> signatures_of(const cache::Bundle& bundle);

// Makes a key: the secret one in `path`, which only its owner may read, the public one in `path`.pub. Returns the
// public key, 64 hexadecimal digits. Fails with io, and then leaves no file; an existing file stays as it is.
Result<std::string> make_key(const std::string& path);

// The bundle, signed by the key in the file for this release; an earlier signature of the same key is replaced, those
// of others stay. `bundle` is intact. Sets `public_key`. Fails with io or invalid_argument when the file is no secret
// key, or others than its owner may read it; with invalid_argument for an index of another release; with not_trusted
// when the bundle has no digests.
Result<cache::Bytes> sign(cache::ByteView bundle, const std::string& key_file, std::uint64_t release,
                          std::string& public_key);

// trust_keys and trust_digest; a key is 64 hexadecimal digits, or the name of a file of make_key.
Result<std::shared_ptr<const Trust>> trusted_keys(const std::vector<std::string>& keys, std::uint64_t minimum_release);
Result<std::shared_ptr<const Trust>> trusted_digest(const std::string& digest);

}  // namespace clbake::builder::release
