#include <clbake/builder/release/signing.hpp>

#include <clbake/seal.hpp>
#include "release/key_file.hpp"

#include <sodium.h>
#include <algorithm>

namespace clbake::builder::release {
namespace {

// An Ed25519 key for signing; forgets itself.
class SecretKey {
 public:
  explicit SecretKey(const Digest& seed) { crypto_sign_seed_keypair(public_key.data(), secret_, seed.data()); }
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey() { sodium_memzero(secret_, sizeof secret_); }

  cache::Signature sign(const cache::Bundle& bundle, const Digest& identity, std::uint64_t release) const {
    cache::Signature signature;
    signature.public_key = public_key;
    signature.release = release;
    const SignedMessage message = message_of(bundle, identity, release);
    crypto_sign_detached(signature.signature.data(), nullptr, message.data(), message.size(), secret_);
    return signature;
  }

  Digest public_key{};

 private:
  std::uint8_t secret_[crypto_sign_SECRETKEYBYTES];
};

}  // namespace

cache::DigestFunction digest_function() { return compute_digest; }

Status check_digests(const cache::Bundle& bundle) { return bundle.check_digests(*digest_guard()); }

Result<std::string> identity_text(const cache::Bundle& bundle) {
  const Result<Digest> identity = identity_of(bundle);
  if (!identity) return identity.status();
  return hexadecimal(*identity);
}

Result<std::vector<SignatureReport>> signatures_of(const cache::Bundle& bundle) {
  const Result<std::vector<cache::Signature>> signatures = bundle.signatures();
  if (!signatures) return signatures.status();
  std::vector<SignatureReport> reports;
  if (signatures->empty()) return reports;
  const Result<Digest> identity = identity_of(bundle);
  if (!identity) return identity.status();
  for (const cache::Signature& signature : *signatures) {
    reports.push_back({hexadecimal(signature.public_key), signature.release, is_valid(signature, bundle, *identity)});
  }
  return reports;
}

Result<std::string> make_key(const std::string& path) {
  if (sodium_init() < 0) return Status(Code::io, "libsodium finds no source of random numbers");
  Digest seed;
  randombytes_buf(seed.data(), seed.size());
  const SecretKey key(seed);
  const Status written = write_key_files(path, seed, key.public_key);
  forget(seed);
  if (!written) return written;
  return hexadecimal(key.public_key);
}

Result<cache::Bytes> sign(cache::ByteView bytes, const std::string& key_file, std::uint64_t release,
                          std::string& public_key) {
  const Result<cache::Bundle> bundle = cache::Bundle::from_memory(bytes);
  if (!bundle) return bundle.status();
  const Result<Digest> identity = identity_of(*bundle);
  if (!identity) return identity.status();
  Result<std::vector<cache::Signature>> signatures = bundle->signatures();
  if (!signatures) return signatures.status();
  Digest seed{};
  const Status read = read_secret_key(key_file, seed);
  if (!read) return read;
  const SecretKey key(seed);
  forget(seed);
  public_key = hexadecimal(key.public_key);
  const auto own = [&](const cache::Signature& signature) { return signature.public_key == key.public_key; };
  signatures->erase(std::remove_if(signatures->begin(), signatures->end(), own), signatures->end());
  signatures->push_back(key.sign(*bundle, *identity, release));
  return cache::with_signatures(bytes, std::move(*signatures));
}

Result<std::shared_ptr<const Trust>> trusted_keys(const std::vector<std::string>& keys, std::uint64_t minimum_release) {
  std::vector<std::string> digits;
  for (const std::string& key : keys) {
    const Result<Digest> read = read_public_key(key);
    if (!read) return read.status();
    digits.push_back(hexadecimal(*read));
  }
  return trust_keys(digits, minimum_release);
}

Result<std::shared_ptr<const Trust>> trusted_digest(const std::string& digest) { return trust_digest(digest); }

}  // namespace clbake::builder::release
