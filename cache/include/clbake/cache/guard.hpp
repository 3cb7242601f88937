// Who decides whether bytes of a bundle may be used, beside their checksums, which find damage but not malice.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

namespace clbake::cache {

// Any number of threads at once.
class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  virtual ~Guard() = default;

  // Copies `stored`, which somebody may still change, into `copy`, and returns the copy if its digest is `digest`
  // (32 bytes, FORMAT.md says of which function). Else fails with not_trusted; nothing may use the bytes then.
  virtual Result<ByteView> admit(ByteView stored, const std::uint8_t* digest, Bytes& copy) const = 0;
};

}  // namespace clbake::cache
