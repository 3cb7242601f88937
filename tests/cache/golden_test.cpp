// Bundles of released versions stay readable.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

BOOST_AUTO_TEST_CASE(GoldenBundleOfVersion10HoldsTheSmallContents) {
  const Result<Bundle> bundle = Bundle::open(CLBAKE_GOLDEN_DIR "/v1.0.clbake");
  BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
  BOOST_TEST(bundle->version().major == 1);
  BOOST_TEST(bundle->version().minor == 0);
  BOOST_TEST(bundle->verify().message() == "");
  const Contents expected = open_bytes(small_bundle())->decode().value();
  BOOST_TEST(describe(bundle->decode().value()) == describe(expected));
}
