// In the place of signing.cpp where there is no libsodium.
#include <clbake/builder/release/signing.hpp>

namespace clbake::builder::release {
namespace {

Status missing() {
  return {Code::invalid_argument, "this clbake was built without libsodium: digests and signatures need it"};
}

}  // namespace

cache::DigestFunction digest_function() { return nullptr; }
Status check_digests(const cache::Bundle& /*bundle*/) { return {}; }
Result<std::string> identity_text(const cache::Bundle& /*bundle*/) { return missing(); }
Result<std::vector<SignatureReport>> signatures_of(const cache::Bundle& /*bundle*/) { return missing(); }
Result<std::string> make_key(const std::string& /*path*/) { return missing(); }
Result<cache::Bytes> sign(cache::ByteView /*bundle*/, const std::string& /*key_file*/, std::uint64_t /*release*/,
                          std::string& /*public_key*/) {
  return missing();
}
Result<std::shared_ptr<const Trust>> trusted_keys(const std::vector<std::string>& /*keys*/,
                                                  std::uint64_t /*minimum_release*/) {
  return missing();
}
Result<std::shared_ptr<const Trust>> trusted_digest(const std::string& /*digest*/) { return missing(); }

}  // namespace clbake::builder::release
