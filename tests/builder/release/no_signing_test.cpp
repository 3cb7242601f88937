// A clbake without libsodium: bundles are written without digests, and what needs them says so.
#include <clbake/builder/release/signing.hpp>

#include <boost/test/unit_test.hpp>

using namespace clbake;
using clbake::cache::Bundle;
using namespace clbake::builder::release;

BOOST_AUTO_TEST_CASE(WithoutLibsodiumVerbsSayWhatIsMissing) {
  const Bundle nothing = *Bundle::nothing();
  std::string key;
  for (const Status& status :
       {identity_text(nothing).status(), signatures_of(nothing).status(), make_key("never.key").status(),
        sign({}, "never.key", 0, key).status(), trusted_keys({}, 0).status(), trusted_digest("").status()}) {
    BOOST_TEST(status.message() == "this clbake was built without libsodium: digests and signatures need it");
  }
  BOOST_TEST((digest_function() == nullptr));
  BOOST_TEST(check_digests(nothing).ok());
}
