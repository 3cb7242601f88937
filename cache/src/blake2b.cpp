#include <clbake/cache/blake2b.hpp>

#include "coding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace clbake::cache {
namespace {

using Words = std::array<std::uint64_t, 8>;

constexpr Words kStart = {0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
                          0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179};

// The order of a block's words in each round; the last two of the twelve rounds are the first two again.
constexpr std::uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

std::uint64_t rotated(std::uint64_t word, int right) { return word >> right | word << (64 - right); }

// The words by value, so that they stay in registers.
inline void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, std::uint64_t x,
                std::uint64_t y) {
  a += b + x;
  d = rotated(d ^ a, 32);
  c += d;
  b = rotated(b ^ c, 24);
  a += b + y;
  d = rotated(d ^ a, 16);
  c += d;
  b = rotated(b ^ c, 63);
}

// The order is a constant here, so that nothing is looked up: this takes half of the time.
template <std::size_t number>
inline void mix_round(std::uint64_t* v, const std::uint64_t* word) {
  constexpr const std::uint8_t* s = kOrder[number % 10];
  mix(v[0], v[4], v[8], v[12], word[s[0]], word[s[1]]);
  mix(v[1], v[5], v[9], v[13], word[s[2]], word[s[3]]);
  mix(v[2], v[6], v[10], v[14], word[s[4]], word[s[5]]);
  mix(v[3], v[7], v[11], v[15], word[s[6]], word[s[7]]);
  mix(v[0], v[5], v[10], v[15], word[s[8]], word[s[9]]);
  mix(v[1], v[6], v[11], v[12], word[s[10]], word[s[11]]);
  mix(v[2], v[7], v[8], v[13], word[s[12]], word[s[13]]);
  mix(v[3], v[4], v[9], v[14], word[s[14]], word[s[15]]);
}

template <std::size_t... numbers>
inline void mix_rounds(std::uint64_t* v, const std::uint64_t* word, std::index_sequence<numbers...>) {
  (mix_round<numbers>(v, word), ...);
}

}  // namespace

Blake2b::Blake2b() : state_(kStart) { state_[0] ^= 0x01010000 ^ ContentDigest().size(); }

void Blake2b::add_block(const std::uint8_t* block, bool is_last) {
  std::uint64_t v[16], word[16];
  std::copy(state_.begin(), state_.end(), v);
  std::copy(kStart.begin(), kStart.end(), v + 8);
  v[12] ^= bytes_;  // up to the end of this block
  if (is_last) v[14] = ~v[14];
  for (std::size_t i = 0; i < 16; ++i) word[i] = load64(block + 8 * i);
  mix_rounds(v, word, std::make_index_sequence<12>());
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[8 + i];
}

void Blake2b::add(ByteView bytes) {
  while (bytes.size > 0) {
    if (waiting_bytes_ == kBlock) {
      bytes_ += kBlock;
      add_block(waiting_, false);
      waiting_bytes_ = 0;
    }
    for (; waiting_bytes_ == 0 && bytes.size > kBlock; bytes = {bytes.data + kBlock, bytes.size - kBlock}) {
      bytes_ += kBlock;
      add_block(bytes.data, false);
    }
    const std::size_t taken = std::min(bytes.size, kBlock - waiting_bytes_);
    std::memcpy(waiting_ + waiting_bytes_, bytes.data, taken);
    waiting_bytes_ += taken;
    bytes = {bytes.data + taken, bytes.size - taken};
  }
}

ContentDigest Blake2b::digest() {
  std::memset(waiting_ + waiting_bytes_, 0, kBlock - waiting_bytes_);
  bytes_ += waiting_bytes_;
  add_block(waiting_, true);
  ContentDigest digest;
  std::memcpy(digest.data(), state_.data(), digest.size());
  return digest;
}

ContentDigest blake2b_256(ByteView bytes) {
  Blake2b hash;
  hash.add(bytes);
  return hash.digest();
}

void blake2b_256(ByteView bytes, std::uint8_t* digest) {
  const ContentDigest made = blake2b_256(bytes);
  std::memcpy(digest, made.data(), made.size());
}

}  // namespace clbake::cache
