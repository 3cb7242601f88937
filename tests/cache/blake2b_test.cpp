// Our digest against values of RFC 7693's algorithm that other implementations gave.
#include <clbake/cache/blake2b.hpp>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>

namespace cache = clbake::cache;
namespace data = boost::unit_test::data;

namespace {

// The bytes 0, 1, 2 ... of a size around the block's 128 bytes, and their digest.
struct Known {
  std::size_t size;
  std::string digest;
};
std::ostream& operator<<(std::ostream& out, const Known& known) { return out << known.size << " bytes"; }

const Known known[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
    {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
    {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b"},
    {64, "10d8e6d534b00939843fe9dcc4dae48cdf008f6b8b2b82b156f5404d874887f5"},
    {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
    {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
    {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
    {255, "1d0850ee9bca0abc9601e9deabe1418fedec2fb6ac4150bd5302d2430f9be943"},
    {256, "39a7eb9fedc19aabc83425c6755dd90e6f9d0c804964a1f4aaeea3b9fb599835"},
    {257, "45f7f084c30bac7cbae2e1963bc6e6b0d8cb227a12927e97fb941d288fb1f9a3"},
    {1000, "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec"},
    {100000, "2876d1bbfa8e8637e8bd364c4d91006030f439ef3d9b87f66d087dd0b021c0af"},
};

std::string hexadecimal(const cache::ContentDigest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return text;
}

}  // namespace

BOOST_DATA_TEST_CASE(DigestOfPiecesIsThatOfTheWhole, data::make(known), one) {
  cache::Bytes bytes(one.size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  cache::Blake2b hash;
  std::size_t size = 1;
  for (std::size_t at = 0; at < bytes.size(); size = size % 200 + 37) {
    const std::size_t piece = std::min(size, bytes.size() - at);
    hash.add({bytes.data() + at, piece});
    at += piece;
  }
  BOOST_TEST(hexadecimal(hash.digest()) == one.digest);
}

BOOST_DATA_TEST_CASE(DigestIsThatOfOtherImplementations, data::make(known), one) {
  cache::Bytes bytes(one.size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  BOOST_TEST(hexadecimal(cache::blake2b_256({bytes.data(), bytes.size()})) == one.digest);
}
