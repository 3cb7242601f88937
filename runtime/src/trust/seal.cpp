#include <clbake/seal.hpp>

#include <sodium.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace clbake {
namespace {

using cache::ByteView;

constexpr std::size_t kContextBytes = 32;
constexpr char kIdentityContext[kContextBytes] = "clbake bundle identity";
constexpr char kSignatureContext[kContextBytes] = "clbake bundle signature";

// Chooses the fastest code for this processor, once. Only the random numbers can fail, which are not needed here.
void initialize() {
  if (sodium_init() < 0) return;
}

class DigestGuard : public cache::Guard {
 public:
  Result<ByteView> admit(ByteView stored, const std::uint8_t* digest, cache::Bytes& copy) const override {
    copy.assign(stored.data, stored.data + stored.size);
    const ByteView bytes{copy.data(), copy.size()};
    Digest found;
    compute_digest(bytes, found.data());
    if (!std::equal(found.begin(), found.end(), digest)) {
      return Status(Code::not_trusted, "not trusted: its digest differs");
    }
    return bytes;
  }
};

void store64(std::uint8_t* p, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

void compute_digest(ByteView bytes, std::uint8_t* digest) {
  initialize();
  crypto_generichash(digest, sizeof(Digest), bytes.data, bytes.size, nullptr, 0);
}

std::shared_ptr<const cache::Guard> digest_guard() { return std::make_shared<const DigestGuard>(); }

Result<Digest> identity_of(const cache::Bundle& bundle) {
  const Result<cache::Bytes> bytes = bundle.identified_bytes();
  if (!bytes) return bytes.status();
  initialize();
  crypto_generichash_state state;
  Digest digest;
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(kIdentityContext), kContextBytes);
  crypto_generichash_update(&state, bytes->data(), bytes->size());
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

SignedMessage message_of(const cache::Bundle& bundle, const Digest& identity, std::uint64_t release) {
  SignedMessage message;
  std::memcpy(message.data(), kSignatureContext, kContextBytes);
  store64(&message[32], bundle.version().major);
  std::copy(identity.begin(), identity.end(), message.begin() + 40);
  store64(&message[72], release);
  return message;
}

bool is_valid(const cache::Signature& signature, const cache::Bundle& bundle, const Digest& identity) {
  initialize();
  const SignedMessage message = message_of(bundle, identity, signature.release);
  return crypto_sign_verify_detached(signature.signature.data(), message.data(), message.size(),
                                     signature.public_key.data()) == 0;
}

std::string hexadecimal(const Digest& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 0xFU];
  }
  return text;
}

bool read_hexadecimal(const std::string& text, Digest& bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const digits = &text[2 * i];
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc() || end != digits + 2) return false;
  }
  return true;
}

}  // namespace clbake
