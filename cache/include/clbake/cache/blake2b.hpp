// BLAKE2b of 32 bytes, without a key (RFC 7693): the digest of an application's program.
#pragma once

#include <clbake/cache/model.hpp>

namespace clbake::cache {

// Takes bytes in pieces.
class Blake2b {
 public:
  Blake2b();
  void add(ByteView bytes);
  ContentDigest digest();  // of all bytes; the last call

 private:
  static constexpr std::size_t kBlock = 128;  // bytes
  void add_block(const std::uint8_t* block, bool is_last);

  std::array<std::uint64_t, 8> state_;
  std::uint64_t bytes_ = 0;       // of all blocks before the one that waits
  std::uint8_t waiting_[kBlock];  // the last block is another one, so one waits until more comes
  std::size_t waiting_bytes_ = 0;
};

// Any thread.
ContentDigest blake2b_256(ByteView bytes);

// The same as a DigestFunction (writer.hpp).
void blake2b_256(ByteView bytes, std::uint8_t* digest);

}  // namespace clbake::cache
