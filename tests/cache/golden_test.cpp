// Bundles of released versions stay readable.
#include "samples.hpp"

#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>
#include <tuple>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

BOOST_AUTO_TEST_CASE(GoldenBundlesOfVersion10HoldWhatTheyHeld) {
  const std::tuple<const char*, Contents, unsigned> bundles[] = {{"/v1.0.clbake", small_contents(), 0},
                                                                 {"/v1.0-programs.clbake", program_contents(), 0},
                                                                 {"/v1.0-dictionaries.clbake", similar_contents(), 9}};
  for (const auto& [file, contents, expected] : bundles) {
    const Result<Bundle> bundle = Bundle::open(std::string(CLBAKE_GOLDEN_DIR) + file);
    BOOST_REQUIRE_EQUAL(bundle.status().message(), "");
    BOOST_TEST(bundle->version().major == 1);
    BOOST_TEST(bundle->version().minor == 0);
    BOOST_TEST(bundle->verify().message() == "");
    const Contents held = open_bytes(encoded(contents))->decode().value();
    BOOST_TEST(fingerprint(bundle->decode().value()) == fingerprint(held));
    unsigned with_dictionary = 0;
    for (std::uint32_t i = 0; i < bundle->entry_count(); ++i) {
      with_dictionary += bundle->entry(i)->program.dictionary != 0 ? 1 : 0;
    }
    BOOST_TEST(with_dictionary == expected, file);
  }
}

BOOST_AUTO_TEST_CASE(AGoldenIndexNamesItsSlices) {
  const std::string folder = std::string(CLBAKE_GOLDEN_DIR) + "/v1.0-slices/";
  const Result<Bundle> index = Bundle::open(folder + "index.clbake-index");
  BOOST_REQUIRE_EQUAL(index.status().message(), "");
  BOOST_TEST(index->verify().message() == "");
  const Result<SliceTable> table = index->slices();
  BOOST_REQUIRE_EQUAL(table.status().message(), "");
  BOOST_TEST(table->release == 7);
  BOOST_TEST(table->programs.size() == 2);
  BOOST_REQUIRE_EQUAL(table->slices.size(), 2);
  BOOST_TEST(table->forms(table->slices[0], 1) == 0U);
  BOOST_TEST(table->forms(table->slices[0], 0) == (kSourceForm | kNativeForm));
  BOOST_TEST(table->slices[1].target == kNoTarget);
  for (const Slice& slice : table->slices) {
    const Result<Bundle> file = Bundle::open(folder + slice_name(slice.digest));
    BOOST_REQUIRE_EQUAL(file.status().message(), "");
    BOOST_TEST(file->of_digest(slice.digest, nullptr).status().message() == "");
    BOOST_TEST(file->verify().message() == "");
  }
}
