// The cryptography behind clbake/trust.hpp, for the builder and the tools, which make what it checks: cache/FORMAT.md,
// "Digests and signatures". In the library clbake::trust. Any thread.
#pragma once

#include <clbake/cache/reader.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace clbake {

using Digest = std::array<std::uint8_t, 32>;
using SignedMessage = std::array<std::uint8_t, 80>;

// BLAKE2b of 32 bytes: a cache::DigestFunction.
void compute_digest(cache::ByteView bytes, std::uint8_t* digest);

// Admits a blob if compute_digest agrees.
std::shared_ptr<const cache::Guard> digest_guard();

// Fails with not_trusted without digests.
Result<Digest> identity_of(const cache::Bundle& bundle);

// The message that a signature of this bundle, whose identity is given, signs.
SignedMessage message_of(const cache::Bundle& bundle, const Digest& identity, std::uint64_t release);

// True when the signature is that of its key.
bool is_valid(const cache::Signature& signature, const cache::Bundle& bundle, const Digest& identity);

// 64 lower-case digits.
std::string hexadecimal(const Digest& bytes);

// Reads 64 digits of either case; false for any other text.
bool read_hexadecimal(const std::string& text, Digest& bytes);

}  // namespace clbake
