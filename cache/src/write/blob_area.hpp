// Bytes of the section `bodies` or `programs` while it is being written: blobs one after another, equal ones once.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <memory>
#include <unordered_map>

struct ZSTD_CCtx_s;

namespace clbake::cache {

struct StoredBlob {
  std::uint64_t offset = 0;  // from the start of the bundle
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint64_t stored_checksum = 0;
  std::uint64_t raw_checksum = 0;
  std::uint16_t method = 0;  // format::Method
};

class BlobArea {
 public:
  // `offset`: where the section will lie in the bundle.
  explicit BlobArea(std::uint64_t offset);

  // Stores a blob, compressed if asked for and if that makes it smaller. `raw` must stay as it is while the area lives.
  // Fails with out_of_memory. REQUIRES: 1 <= raw.size < 4 GiB.
  Result<StoredBlob> add(ByteView raw, bool compress);

  const Bytes& bytes() const { return bytes_; }

 private:
  struct Known {
    ByteView raw;
    bool compress;
    StoredBlob blob;
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  const StoredBlob* find(ByteView raw, bool compress, std::uint64_t raw_checksum) const;
  Status append_compressed(ByteView raw, StoredBlob& blob);

  std::uint64_t offset_;
  Bytes bytes_;
  std::unordered_multimap<std::uint64_t, Known> known_;  // by raw checksum
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;    // made when first needed
};

}  // namespace clbake::cache
