#include <clbake/builder/release/signing.hpp>

#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>
#include <clbake/seal.hpp>
#include "process/need.hpp"
#include "process/text_file.hpp"

#include <sodium.h>
#include <algorithm>

namespace clbake::builder::release {
namespace {

// Files of keys: one line each, with 64 hexadecimal digits behind one of these. The secret key is the seed of an
// Ed25519 key.
constexpr char kSecret[] = "clbake-secret-key-1 ";
constexpr char kPublic[] = "clbake-public-key-1 ";
constexpr std::size_t kMostBytes = 256;  // of a key file

// Overwrites a secret with zeros.
void forget(Digest& secret) { sodium_memzero(secret.data(), secret.size()); }
void forget(std::string& secret) { sodium_memzero(&secret[0], secret.size()); }

// Creates a file of this text; leaves none behind when that fails, and an existing one as it is.
Status create(const std::string& path, const std::string& text, os::Access access) {
  const Status status = os::create_file(path, text, access);
  if (status.code() != Code::invalid_argument) return status;
  return {Code::io, path + ": exists already, and a key is never replaced"};
}

// The digits behind `begin` in a text of one line.
bool parse(const std::string& text, const std::string& begin, Digest& key) {
  if (text.compare(0, begin.size(), begin) != 0) return false;
  const std::size_t end = text.find('\n');
  if (end != std::string::npos && end + 1 != text.size()) return false;
  std::string digits = text.substr(begin.size(), end == std::string::npos ? end : end - begin.size());
  const bool read = read_hexadecimal(digits, key);
  forget(digits);
  return read;
}

// Writes `path` and `path`.pub, or neither, and replaces none. Fails with io.
Status write_key_files(const std::string& path, const Digest& seed, const Digest& public_key) {
  std::string digits = hexadecimal(seed);
  std::string text = kSecret + digits + "\n";
  Status status = create(path, text, os::Access::user);
  forget(digits);
  forget(text);
  if (!status) return status;
  status = create(path + ".pub", kPublic + hexadecimal(public_key) + "\n", os::Access::everyone);
  if (!status) os::remove_file(path);
  return status ? os::sync_directory_of(path) : status;
}

// Reads a file, a pipe or, for "-", standard input. Fails with io, and with invalid_argument when it is no secret key
// or the file's permissions let others than its owner read it.
Status read_secret_key(const std::string& path, Digest& seed) {
  std::string text;
  Status status = os::read_secret(path, text, kMostBytes + 1);
  if (status && !parse(text, kSecret, seed)) {
    status = {Code::invalid_argument, path + ": is no secret key of 'clbake keygen'"};
  }
  forget(text);
  return status;
}

// The digits themselves, or where to read them from as above. Anybody may read a public key.
Result<Digest> read_public_key(const std::string& digits_or_path) {
  Digest key{};
  if (read_hexadecimal(digits_or_path, key)) return key;
  Result<std::string> text = process::read_input(digits_or_path, kMostBytes);
  if (text.status().code() == Code::not_found) {
    return Status(Code::not_found, digits_or_path + ": neither a file nor a public key of 64 hexadecimal digits");
  }
  if (text.status().code() == Code::io) return text.status();
  if (!text || !parse(*text, kPublic, key)) {  // a larger file is none, either
    if (text) forget(*text);                   // it may be a secret one
    return Status(Code::invalid_argument, digits_or_path + ": is no public key of 'clbake keygen'");
  }
  return key;
}

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

Result<std::vector<SignatureReport>> signatures_of(const cache::Bundle& bundle) try {
  const std::vector<cache::Signature> signatures = need(bundle.signatures());
  std::vector<SignatureReport> reports;
  if (signatures.empty()) return reports;
  const Digest identity = need(identity_of(bundle));
  for (const cache::Signature& signature : signatures) {
    reports.push_back({hexadecimal(signature.public_key), signature.release, is_valid(signature, bundle, identity)});
  }
  return reports;
} catch (const Failure& failure) {
  return failure.status;
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
                          std::string& public_key) try {
  const cache::Bundle bundle = need(cache::Bundle::from_memory(bytes));
  const Digest identity = need(identity_of(bundle));
  if (bundle.is_index()) {
    const cache::SliceTable table = need(bundle.slices());
    if (table.release != release) {
      return {Code::invalid_argument, "the index is of release " + std::to_string(table.release) + ", not " +
                                          std::to_string(release) + ": 'clbake split' sets its number"};
    }
  }
  std::vector<cache::Signature> signatures = need(bundle.signatures());
  Digest seed{};
  need(read_secret_key(key_file, seed));
  const SecretKey key(seed);
  forget(seed);
  public_key = hexadecimal(key.public_key);
  const auto own = [&](const cache::Signature& signature) { return signature.public_key == key.public_key; };
  signatures.erase(std::remove_if(signatures.begin(), signatures.end(), own), signatures.end());
  signatures.push_back(key.sign(bundle, identity, release));
  return cache::with_signatures(bytes, std::move(signatures));
} catch (const Failure& failure) {
  return failure.status;
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
