// Our checksum against the reference implementation.
#include <clbake/cache/xxh64.hpp>

#include <xxhash.h>
#include <boost/test/unit_test.hpp>
#include <random>

using clbake::cache::xxh64;

BOOST_AUTO_TEST_CASE(ChecksumEqualsTheReferenceAtEverySizeSeedAndAlignment) {
  std::mt19937_64 random(1);
  std::vector<std::uint8_t> data(400);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  std::size_t different = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{5} << 32 | 17, random(), ~std::uint64_t{0}}) {
    for (std::size_t start = 0; start < 8; ++start) {
      for (std::size_t size = 0; size <= 300; ++size) {
        different += xxh64(data.data() + start, size, seed) != XXH64(data.data() + start, size, seed);
      }
    }
  }
  BOOST_TEST(different == 0U);
}

BOOST_AUTO_TEST_CASE(ChecksumOfNothingIsTheSpecifiedValue) { BOOST_TEST(xxh64(nullptr, 0, 0) == 0xEF46DB3751D8E999U); }
