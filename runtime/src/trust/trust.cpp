#include <clbake/trust.h>
#include <clbake/trust.hpp>

#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>
#include <clbake/seal.hpp>

#include "c/c_api.hpp"

#include <sodium.h>
#include <algorithm>
#include <functional>
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

// Says what is wrong with a bundle of this identity; ok if it is trusted.
using Judge = std::function<Status(const Bundle& bundle, const Digest& identity)>;

// The bundle comes under a guard first, so that the judged bytes are the ones read later.
class GuardedTrust final : public Trust {
 public:
  GuardedTrust(std::string scope, Judge judge)
      : scope_(std::move(scope)), judge_(std::move(judge)), guard_(digest_guard()) {}

  Result<Bundle> admit(const Bundle& bundle) const override {
    return exceptions_to_status([&]() -> Result<Bundle> {
      Result<Bundle> guarded = bundle.guarded_by(guard_);
      if (!guarded) return refused(guarded.status());
      const Result<Digest> identity = identity_of(*guarded);
      const Status trusted = identity ? judge_(*guarded, *identity) : identity.status();
      if (!trusted) return refused(trusted);
      return guarded;
    });
  }

  const std::string& scope() const override { return scope_; }

 private:
  std::string scope_;
  Judge judge_;
  std::shared_ptr<const cache::Guard> guard_;
};

std::shared_ptr<const Trust> guarded(std::string scope, Judge judge) {
  return std::make_shared<const GuardedTrust>(std::move(scope), std::move(judge));
}

Status judge_signature(const cache::Signature& signature, std::uint64_t minimum_release, const Bundle& bundle,
                       const Digest& identity) {
  if (!is_valid(signature, bundle, identity)) {
    return not_trusted("the signature of key " + short_name(signature.public_key) + " is wrong");
  }
  if (signature.release >= minimum_release) return {};
  return not_trusted(joined({"release ", signature.release, " is older than ", minimum_release}));
}

// `keys`: sorted. One good signature is enough.
Status judge_signatures(const std::vector<Digest>& keys, std::uint64_t minimum_release, const Bundle& bundle,
                        const Digest& identity) {
  const Result<std::vector<cache::Signature>> signatures = bundle.signatures();
  if (!signatures) return signatures.status();
  Status why = not_trusted(signatures->empty() ? "it is not signed" : "signed by no known key");
  for (const cache::Signature& signature : *signatures) {
    if (!std::binary_search(keys.begin(), keys.end(), signature.public_key)) continue;
    why = judge_signature(signature, minimum_release, bundle, identity);
    if (why) break;
  }
  return why;
}

Result<std::vector<Digest>> read_keys(const std::vector<std::string>& texts) {
  if (texts.empty()) return Status(Argument::options, "trust: no public key is given");
  std::vector<Digest> keys(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!read_hexadecimal(texts[i], keys[i])) {
      return Status(Argument::options, joined({"trust: public key ", i, " is not 64 hexadecimal digits"}));
    }
    if (crypto_core_ed25519_is_valid_point(keys[i].data()) != 1) {
      return Status(Argument::options, joined({"trust: public key ", i, " is no key of Ed25519"}));
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
    return guarded("digest " + hexadecimal(bytes), [bytes](const Bundle&, const Digest& identity) {
      if (identity == bytes) return Status();
      return not_trusted(joined({"the bundle's digest is ", hexadecimal(identity), ", not ", hexadecimal(bytes)}));
    });
  });
}

Result<std::shared_ptr<const Trust>> trust_keys(const std::vector<std::string>& public_keys,
                                                std::uint64_t minimum_release) {
  return exceptions_to_status([&]() -> Result<std::shared_ptr<const Trust>> {
    Result<std::vector<Digest>> keys = read_keys(public_keys);
    if (!keys) return keys.status();
    std::string scope = "keys";
    for (const Digest& key : *keys) scope += " " + hexadecimal(key);
    return guarded(std::move(scope), [keys = *keys, minimum_release](const Bundle& bundle, const Digest& identity) {
      return judge_signatures(keys, minimum_release, bundle, identity);
    });
  });
}

}  // namespace clbake

using namespace clbake::c;

clbake_code clbake_trust_digest(const char* digest, clbake_trust** trust, clbake_error* error) {
  return run(error, [&] {
    clbake_trust** const to = given(trust, "trust", clbake::Argument::output);
    return hand_over(clbake::trust_digest(given(digest, "digest")), to);
  });
}

clbake_code clbake_trust_keys(const char* const* public_keys, std::size_t count, std::uint64_t minimum_release,
                              clbake_trust** trust, clbake_error* error) {
  return run(error, [&] {
    clbake_trust** const to = given(trust, "trust", clbake::Argument::output);
    if (count > 0) given(public_keys, "public_keys");
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) keys.emplace_back(given(public_keys[i], "a public key of the list"));
    return hand_over(clbake::trust_keys(keys, minimum_release), to);
  });
}

void clbake_trust_release(clbake_trust* trust) { delete trust; }
