#include "trust/trust_scene.hpp"

#include <sodium.h>
#include <stdexcept>

namespace clbake::test {
namespace {

template <typename T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(result.status().message());
  return std::move(*result);
}

}  // namespace

Key::Key(std::uint8_t seed) {
  Digest bytes;
  bytes.fill(seed);
  crypto_sign_seed_keypair(public_key_.data(), secret_key_.data(), bytes.data());
}

cache::Signature Key::sign(const Bundle& bundle, std::uint64_t release) const {
  cache::Signature signature;
  signature.public_key = public_key_;
  signature.release = release;
  const SignedMessage message = message_of(bundle, required(identity_of(bundle)), release);
  crypto_sign_detached(signature.signature.data(), nullptr, message.data(), message.size(), secret_key_.data());
  return signature;
}

const cache::Bytes& unsigned_bytes() {
  static const cache::Bytes bytes = [] {
    cache::PackOptions options;
    options.digest = compute_digest;
    return required(cache::pack(required(opened(bundle_bytes()).decode()), options));
  }();
  return bytes;
}

cache::Bytes signed_by(const std::vector<Key>& keys, std::uint64_t release, const cache::Bytes& bytes) {
  std::vector<cache::Signature> signatures;
  for (const Key& key : keys) signatures.push_back(key.sign(opened(bytes), release));
  return required(cache::with_signatures({bytes.data(), bytes.size()}, std::move(signatures)));
}

Bundle opened(const cache::Bytes& bytes) { return required(Bundle::copy_of({bytes.data(), bytes.size()})); }

Options trusting(Result<std::shared_ptr<const Trust>> trust) {
  Options options;
  options.trust = required(std::move(trust));
  return options;
}

Options trusting(const std::vector<Key>& keys, std::uint64_t minimum_release) {
  std::vector<std::string> texts;
  for (const Key& key : keys) texts.push_back(key.text());
  return trusting(trust_keys(texts, minimum_release));
}

std::string digest_of(const cache::Bytes& bytes) { return hexadecimal(required(identity_of(opened(bytes)))); }

}  // namespace clbake::test
