#include <clbake/cache/blake2b.hpp>

#include "coding.hpp"

#include <algorithm>
#include <cstring>

namespace clbake::cache {
namespace {

using Words = std::array<std::uint64_t, 8>;

constexpr std::size_t kBlock = 128;  // bytes

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

void mix(std::uint64_t* v, int a, int b, int c, int d, std::uint64_t x, std::uint64_t y) {
  v[a] += v[b] + x;
  v[d] = rotated(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = rotated(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotated(v[b] ^ v[c], 63);
}

// `end`: bytes up to the end of this block.
void add_block(Words& state, const std::uint8_t* block, std::uint64_t end, bool is_last) {
  std::uint64_t v[16], word[16];
  std::copy(state.begin(), state.end(), v);
  std::copy(kStart.begin(), kStart.end(), v + 8);
  v[12] ^= end;
  if (is_last) v[14] = ~v[14];
  for (int i = 0; i < 16; ++i) word[i] = load64(block + 8 * i);
  for (int round = 0; round < 12; ++round) {
    const std::uint8_t* s = kOrder[round % 10];
    for (int i = 0; i < 4; ++i) mix(v, i, 4 + i, 8 + i, 12 + i, word[s[2 * i]], word[s[2 * i + 1]]);
    for (int i = 0; i < 4; ++i) {
      mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, word[s[8 + 2 * i]], word[s[9 + 2 * i]]);
    }
  }
  for (int i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[8 + i];
}

}  // namespace

ContentDigest blake2b_256(ByteView bytes) {
  ContentDigest digest;
  Words state = kStart;
  state[0] ^= 0x01010000 ^ digest.size();
  std::size_t done = 0;
  for (; bytes.size - done > kBlock; done += kBlock) add_block(state, bytes.data + done, done + kBlock, false);
  std::uint8_t last[kBlock] = {};
  if (bytes.size > done) std::memcpy(last, bytes.data + done, bytes.size - done);
  add_block(state, last, bytes.size, true);
  std::memcpy(digest.data(), state.data(), digest.size());
  return digest;
}

}  // namespace clbake::cache
