// The section `bodies` or `programs` while it is written: blobs one after another, equal ones stored once.
#pragma once

#include <clbake/cache/reader.hpp>
#include <clbake/status.hpp>

#include <memory>
#include <unordered_map>

struct ZSTD_CCtx_s;

namespace clbake::cache {

// The highest level that needs no more memory to decompress than the program itself has bytes.
constexpr int kLevel = 19;

class BlobArea {
 public:
  // `offset`: of the section, from the start of the bundle.
  explicit BlobArea(std::uint64_t offset);

  // Stores a blob, compressed if `compress` and if that makes it smaller. `raw` must stay unchanged while the area
  // lives. Fails with out_of_memory. REQUIRES: 1 <= raw.size < 4 GiB.
  Result<Blob> add(ByteView raw, bool compress);

  // Stores a blob that was compressed elsewhere; `frame` is smaller than `raw`, which must stay unchanged as for add.
  Blob add_compressed(ByteView raw, ByteView frame, std::uint32_t dictionary);

  std::uint64_t offset() const { return offset_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  struct Known {
    ByteView raw;
    bool compress;
    Blob blob;
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  const Blob* find(ByteView raw, bool compress, std::uint64_t raw_checksum) const;
  Result<Bytes> compressed(ByteView raw);
  Blob append(ByteView raw, bool compress, std::uint64_t raw_checksum, ByteView frame, std::uint32_t dictionary);

  std::uint64_t offset_;
  Bytes bytes_;
  std::unordered_multimap<std::uint64_t, Known> known_;  // by raw checksum
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;    // created on first use
};

}  // namespace clbake::cache
