#include "write/blob_area.hpp"

#include <clbake/cache/xxh64.hpp>

#include "format.hpp"

#include <zstd.h>
#include <cstring>

namespace clbake::cache {
void BlobArea::FreeContext::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

BlobArea::BlobArea(std::uint64_t offset) : offset_(offset) {}

const Blob* BlobArea::find(ByteView raw, bool compress, std::uint64_t raw_checksum) const {
  const auto [begin, end] = known_.equal_range(raw_checksum);
  for (auto it = begin; it != end; ++it) {
    const Known& known = it->second;
    if (known.compress == compress && known.raw.size == raw.size &&
        std::memcmp(known.raw.data, raw.data, raw.size) == 0) {
      return &known.blob;
    }
  }
  return nullptr;
}

// Compresses the blob; no bytes if that does not make it smaller.
Result<Bytes> BlobArea::compressed(ByteView raw) {
  if (context_ == nullptr) context_.reset(ZSTD_createCCtx());
  if (context_ == nullptr) return Status(Code::out_of_memory, "zstd: out of memory");
  Bytes frame(ZSTD_compressBound(raw.size));
  const std::size_t size = ZSTD_compressCCtx(context_.get(), frame.data(), frame.size(), raw.data, raw.size, kLevel);
  if (ZSTD_isError(size) != 0) return Status(Code::out_of_memory, std::string("zstd: ") + ZSTD_getErrorName(size));
  frame.resize(size < raw.size ? size : 0);
  return frame;
}

Result<Blob> BlobArea::add(ByteView raw, bool compress) {
  const std::uint64_t raw_checksum = xxh64(raw, 0);
  if (const Blob* known = find(raw, compress, raw_checksum)) return *known;
  Result<Bytes> frame = compress ? compressed(raw) : Bytes();
  if (!frame) return frame.status();
  return append(raw, compress, raw_checksum, {frame->data(), frame->size()}, 0);
}

Blob BlobArea::add_compressed(ByteView raw, ByteView frame, std::uint32_t dictionary) {
  const std::uint64_t raw_checksum = xxh64(raw, 0);
  if (const Blob* known = find(raw, true, raw_checksum)) return *known;
  return append(raw, true, raw_checksum, frame, dictionary);
}

// `frame`: empty if the blob is stored as it is.
Blob BlobArea::append(ByteView raw, bool compress, std::uint64_t raw_checksum, ByteView frame,
                      std::uint32_t dictionary) {
  const bool is_frame = frame.size > 0;
  const ByteView stored = is_frame ? frame : raw;
  Blob blob;
  blob.offset = offset_ + bytes_.size();
  blob.raw_bytes = static_cast<std::uint32_t>(raw.size);
  blob.raw_checksum = raw_checksum;
  blob.stored_bytes = static_cast<std::uint32_t>(stored.size);
  blob.stored_checksum = xxh64(stored, 0);
  blob.method = static_cast<std::uint16_t>(is_frame ? format::Method::zstd : format::Method::none);
  blob.dictionary = dictionary;
  bytes_.insert(bytes_.end(), stored.data, stored.data + stored.size);
  known_.emplace(raw_checksum, Known{raw, compress, blob});
  return blob;
}

}  // namespace clbake::cache
