#include <clbake/builder/release/signing.hpp>

#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>
#include <clbake/seal.hpp>
#include "process/text_file.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

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

Status failure(const std::string& path, const char* step) {
  return {Code::io, path + ": " + step + ": " + std::strerror(errno)};
}

// Creates a file of this text; leaves none behind when that fails, and an existing one as it is.
Status create(const std::string& path, const std::string& text, mode_t permissions) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
  if (file < 0 && errno == EEXIST) return {Code::io, path + ": exists already, and a key is never replaced"};
  if (file < 0) return failure(path, "cannot be created");
  const ::ssize_t written = ::write(file, text.data(), text.size());
  if (written >= 0 && static_cast<std::size_t>(written) != text.size()) errno = ENOSPC;
  const bool whole = written >= 0 && static_cast<std::size_t>(written) == text.size();
  const Status status = whole && ::fsync(file) == 0 ? Status() : failure(path, "write");
  ::close(file);
  if (!status) ::unlink(path.c_str());
  return status;
}

// At most kMostBytes of a file that only its owner may use, of a pipe or, for "-", of standard input. Unlike read_input
// it leaves no copy in memory but `text`.
Status read_secret(const std::string& path, std::string& text) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno == ENOENT ? Code::not_found : Code::io, failure(path, "cannot be opened").message()};
  struct stat info = {};
  Status status;
  if (::fstat(file, &info) != 0) {
    status = failure(path, "stat");
  } else if (S_ISREG(info.st_mode) && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    status = {Code::invalid_argument, path + ": others than its owner may use this secret key: chmod 600 it"};
  }
  text.assign(kMostBytes + 1, '\0');
  std::size_t bytes = 0;
  ::ssize_t got = 1;
  while (status && got > 0 && bytes < text.size()) {
    got = ::read(file, &text[bytes], text.size() - bytes);
    if (got < 0) status = failure(path, "read");
    bytes += static_cast<std::size_t>(std::max<::ssize_t>(got, 0));
  }
  if (file != STDIN_FILENO) ::close(file);
  text.resize(bytes);
  return status;
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
  Status status = create(path, text, 0600);
  forget(digits);
  forget(text);
  if (!status) return status;
  status = create(path + ".pub", kPublic + hexadecimal(public_key) + "\n", 0644);
  if (!status) ::unlink(path.c_str());
  return status ? os::sync_directory_of(path) : status;
}

// Reads a file, a pipe or, for "-", standard input. Fails with io, and with invalid_argument when it is no secret key
// or the file's permissions let others than its owner read it.
Status read_secret_key(const std::string& path, Digest& seed) {
  std::string text;
  Status status = read_secret(path, text);
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
  if (bundle->is_index()) {
    const Result<cache::SliceTable> table = bundle->slices();
    if (!table) return table.status();
    if (table->release != release) {
      return {Code::invalid_argument, "the index is of release " + std::to_string(table->release) + ", not " +
                                          std::to_string(release) + ": 'clbake split' sets its number"};
    }
  }
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
