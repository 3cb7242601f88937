#include <clbake/cache/xxh64.hpp>

#include "coding.hpp"

namespace clbake::cache {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

constexpr std::uint64_t rotate_left(std::uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
  return rotate_left(lane + input * kPrime2, 31) * kPrime1;
}

constexpr std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) {
  return (hash ^ round(0, lane)) * kPrime1 + kPrime4;
}

constexpr std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

// Step 1 to 3 of the specification: whole stripes of 32 bytes in four lanes. Moves `p` past them.
std::uint64_t hash_stripes(const std::uint8_t*& p, std::size_t stripes, std::uint64_t seed) {
  std::uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
  for (; stripes > 0; --stripes, p += 32) {
    a = round(a, load64(p));
    b = round(b, load64(p + 8));
    c = round(c, load64(p + 16));
    d = round(d, load64(p + 24));
  }
  const std::uint64_t hash = rotate_left(a, 1) + rotate_left(b, 7) + rotate_left(c, 12) + rotate_left(d, 18);
  return merge(merge(merge(merge(hash, a), b), c), d);
}

}  // namespace

std::uint64_t xxh64(const std::uint8_t* data, std::size_t bytes, std::uint64_t seed) {
  const std::uint8_t* p = data;
  std::uint64_t hash = bytes >= 32 ? hash_stripes(p, bytes / 32, seed) : seed + kPrime5;
  hash += bytes;
  std::size_t left = bytes % 32;
  for (; left >= 8; left -= 8, p += 8) hash = rotate_left(hash ^ round(0, load64(p)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    hash = rotate_left(hash ^ load32(p) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4;
    p += 4;
  }
  for (; left > 0; --left, ++p) hash = rotate_left(hash ^ *p * kPrime5, 11) * kPrime1;
  return avalanche(hash);
}

}  // namespace clbake::cache
