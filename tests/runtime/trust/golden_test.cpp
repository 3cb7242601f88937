// The signed bundle of a released version is trusted by every later one.
#include "samples.hpp"
#include "trust/trust_scene.hpp"

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::test;

namespace {

// Key(1)'s and the file's numbers, which no version may change.
constexpr char kPublicKey[] = "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c";
constexpr char kIdentity[] = "28d268f0043e835293d5fe6b27045c604c564a67546135fcbfb33c3f48ae31bf";

}  // namespace

BOOST_AUTO_TEST_CASE(TheGoldenBundleIsTrusted) {
  const Result<Bundle> bundle = Bundle::open(CLBAKE_GOLDEN_DIR "/v1.0-signed.clbake");
  BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
  BOOST_TEST(bundle->verify().message() == "");
  BOOST_TEST(bundle->check_digests(*digest_guard()).message() == "");
  BOOST_TEST(hexadecimal(*identity_of(*bundle)) == kIdentity);
  const std::vector<cache::Signature> signatures = *bundle->signatures();
  BOOST_REQUIRE_EQUAL(signatures.size(), 2U);
  for (const cache::Signature& signature : signatures) {
    BOOST_TEST(signature.release == 7U);
    BOOST_TEST(is_valid(signature, *bundle, *identity_of(*bundle)));
  }
  const auto admit = [&](const Result<std::shared_ptr<const Trust>>& trust) {
    const Result<Bundle> admitted = (*trust)->admit(*bundle);
    return admitted ? cache::test::fingerprint(*admitted->decode()) : admitted.status().message();
  };
  const std::string contents = cache::test::fingerprint(*bundle->decode());
  BOOST_TEST(admit(trust_keys({kPublicKey}, 7)) == contents);
  BOOST_TEST(admit(trust_digest(kIdentity)) == contents);
  BOOST_TEST(admit(trust_keys({kPublicKey}, 8)) == "not trusted: release 7 is older than 8");
}
