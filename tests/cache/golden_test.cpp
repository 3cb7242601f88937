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
  BOOST_TEST(fingerprint(bundle->decode().value()) == fingerprint(expected));
}

BOOST_AUTO_TEST_CASE(GoldenBundleWithDictionariesHoldsTheSimilarContents) {
  const Result<Bundle> bundle = Bundle::open(CLBAKE_GOLDEN_DIR "/v1.0-dictionaries.clbake");
  BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
  BOOST_TEST(bundle->verify().message() == "");
  const Contents expected = open_bytes(encoded(similar_contents()))->decode().value();
  BOOST_TEST(fingerprint(bundle->decode().value()) == fingerprint(expected));
  unsigned with_dictionary = 0;
  for (std::uint32_t i = 0; i < bundle->entry_count(); ++i) {
    with_dictionary += bundle->entry(i)->program.dictionary != 0 ? 1 : 0;
  }
  BOOST_TEST(with_dictionary == 9U);
}
