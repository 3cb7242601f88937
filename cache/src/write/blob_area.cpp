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

// Appends the frame and sets method and stored_bytes if it is smaller than the raw bytes; else does nothing.
Status BlobArea::append_compressed(ByteView raw, Blob& blob) {
  if (context_ == nullptr) context_.reset(ZSTD_createCCtx());
  if (context_ == nullptr) return {Code::out_of_memory, "zstd: out of memory"};
  const std::size_t start = bytes_.size();
  bytes_.resize(start + ZSTD_compressBound(raw.size));
  const std::size_t size =
      ZSTD_compressCCtx(context_.get(), bytes_.data() + start, bytes_.size() - start, raw.data, raw.size, kLevel);
  if (ZSTD_isError(size) != 0) {
    bytes_.resize(start);
    return {Code::out_of_memory, std::string("zstd: ") + ZSTD_getErrorName(size)};
  }
  const bool smaller = size < raw.size;
  bytes_.resize(start + (smaller ? size : 0));
  if (!smaller) return {};
  blob.stored_bytes = static_cast<std::uint32_t>(size);
  blob.method = static_cast<std::uint16_t>(format::Method::zstd);
  return {};
}

Result<Blob> BlobArea::add(ByteView raw, bool compress) {
  Blob blob;
  blob.raw_checksum = xxh64(raw, 0);
  if (const Blob* known = find(raw, compress, blob.raw_checksum)) return *known;
  blob.offset = offset_ + bytes_.size();
  blob.raw_bytes = static_cast<std::uint32_t>(raw.size);
  if (compress) {
    if (Status status = append_compressed(raw, blob); !status) return status;
  }
  if (blob.method == static_cast<std::uint16_t>(format::Method::none)) {
    blob.stored_bytes = blob.raw_bytes;
    bytes_.insert(bytes_.end(), raw.data, raw.data + raw.size);
  }
  blob.stored_checksum = xxh64(bytes_.data() + (blob.offset - offset_), blob.stored_bytes, 0);
  known_.emplace(blob.raw_checksum, Known{raw, compress, blob});
  return blob;
}

Blob BlobArea::add_compressed(ByteView raw, ByteView frame, std::uint32_t dictionary) {
  Blob blob;
  blob.raw_checksum = xxh64(raw, 0);
  if (const Blob* known = find(raw, true, blob.raw_checksum)) return *known;
  blob.offset = offset_ + bytes_.size();
  blob.raw_bytes = static_cast<std::uint32_t>(raw.size);
  blob.stored_bytes = static_cast<std::uint32_t>(frame.size);
  blob.stored_checksum = xxh64(frame, 0);
  blob.method = static_cast<std::uint16_t>(format::Method::zstd);
  blob.dictionary = dictionary;
  bytes_.insert(bytes_.end(), frame.data, frame.data + frame.size);
  known_.emplace(blob.raw_checksum, Known{raw, true, blob});
  return blob;
}

}  // namespace clbake::cache
