#include <clbake/trust.hpp>

#include <clbake/exceptions_to_status.hpp>
#include <clbake/seal.hpp>

#include <sodium.h>
#include <algorithm>
#include <utility>

namespace clbake {
namespace {

using cache::Bundle;

Status not_trusted(const std::string& why) { return {Code::not_trusted, "not trusted: " + why}; }

// Any fault of a bundle is a reason not to trust it; only a lack of memory says nothing about it.
Status refused(const Status& status) {
  if (status.code() == Code::not_trusted || status.code() == Code::out_of_memory) return status;
  return not_trusted(status.message());
}

// Enough of a key to tell it from others.
std::string short_name(const Digest& key) { return hexadecimal(key).substr(0, 16) + "..."; }

// Common to both policies: the bundle comes under a guard first, so that the judged bytes are the ones read later.
class GuardedTrust : public Trust {
 public:
  explicit GuardedTrust(std::string scope) : scope_(std::move(scope)), guard_(digest_guard()) {}

  Result<Bundle> admit(const Bundle& bundle) const override {
    return exceptions_to_status([&]() -> Result<Bundle> {
      Result<Bundle> guarded = bundle.guarded_by(guard_);
      if (!guarded) return refused(guarded.status());
      const Result<Digest> identity = identity_of(*guarded);
      const Status trusted = identity ? judge(*guarded, *identity) : identity.status();
      if (!trusted) return refused(trusted);
      return guarded;
    });
  }

  const std::string& scope() const override { return scope_; }

 private:
  virtual Status judge(const Bundle& bundle, const Digest& identity) const = 0;

  std::string scope_;
  std::shared_ptr<const cache::Guard> guard_;
};

class Pinned : public GuardedTrust {
 public:
  explicit Pinned(const Digest& digest) : GuardedTrust("digest " + hexadecimal(digest)), digest_(digest) {}

 private:
  Status judge(const Bundle& /*bundle*/, const Digest& identity) const override {
    if (identity == digest_) return {};
    return not_trusted("the bundle's digest is " + hexadecimal(identity) + ", not " + hexadecimal(digest_));
  }

  Digest digest_;
};

class Signed : public GuardedTrust {
 public:
  // `keys`: sorted.
  Signed(std::vector<Digest> keys, std::uint64_t minimum_release)
      : GuardedTrust(scope_of(keys)), keys_(std::move(keys)), minimum_release_(minimum_release) {}

 private:
  static std::string scope_of(const std::vector<Digest>& keys) {
    std::string scope = "keys";
    for (const Digest& key : keys) scope += " " + hexadecimal(key);
    return scope;
  }

  Status judge(const Bundle& bundle, const Digest& identity) const override {
    const Result<std::vector<cache::Signature>> signatures = bundle.signatures();
    if (!signatures) return signatures.status();
    Status why = not_trusted(signatures->empty() ? "it is not signed" : "signed by no known key");
    for (const cache::Signature& signature : *signatures) {
      if (!std::binary_search(keys_.begin(), keys_.end(), signature.public_key)) continue;
      const Status trusted = judge(signature, bundle, identity);
      if (trusted) return trusted;
      why = trusted;
    }
    return why;
  }

  Status judge(const cache::Signature& signature, const Bundle& bundle, const Digest& identity) const {
    if (!is_valid(signature, bundle, identity)) {
      return not_trusted("the signature of key " + short_name(signature.public_key) + " is wrong");
    }
    if (signature.release >= minimum_release_) return {};
    return not_trusted("release " + std::to_string(signature.release) + " is older than " +
                       std::to_string(minimum_release_));
  }

  std::vector<Digest> keys_;
  std::uint64_t minimum_release_;
};

Result<std::vector<Digest>> read_keys(const std::vector<std::string>& texts) {
  if (texts.empty()) return Status(Argument::options, "trust: no public key is given");
  std::vector<Digest> keys(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!read_hexadecimal(texts[i], keys[i])) {
      return Status(Argument::options, "trust: public key " + std::to_string(i) + " is not 64 hexadecimal digits");
    }
    if (crypto_core_ed25519_is_valid_point(keys[i].data()) != 1) {
      return Status(Argument::options, "trust: public key " + std::to_string(i) + " is no key of Ed25519");
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

Result<std::shared_ptr<const Trust>> trust_digest(const std::string& digest) {
  return exceptions_to_status([&]() -> Result<std::shared_ptr<const Trust>> {
    Digest bytes;
    if (!read_hexadecimal(digest, bytes)) return {Argument::options, "trust: the digest is not 64 hexadecimal digits"};
    return std::shared_ptr<const Trust>(std::make_shared<const Pinned>(bytes));
  });
}

Result<std::shared_ptr<const Trust>> trust_keys(const std::vector<std::string>& public_keys,
                                                std::uint64_t minimum_release) {
  return exceptions_to_status([&]() -> Result<std::shared_ptr<const Trust>> {
    Result<std::vector<Digest>> keys = read_keys(public_keys);
    if (!keys) return keys.status();
    return std::shared_ptr<const Trust>(std::make_shared<const Signed>(std::move(*keys), minimum_release));
  });
}

}  // namespace clbake
