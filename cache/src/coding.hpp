// Numbers and strings as little-endian bytes. Byte by byte, to work at any alignment and on any host; compilers make
// one instruction of each load where they can.
#pragma once

#include <clbake/cache/model.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace clbake::cache {

inline std::uint16_t load16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] | (p[1] << 8)); }

inline std::uint32_t load32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24;
}

inline std::uint64_t load64(const std::uint8_t* p) {
  return std::uint64_t{p[0]} | std::uint64_t{p[1]} << 8 | std::uint64_t{p[2]} << 16 | std::uint64_t{p[3]} << 24 |
         std::uint64_t{p[4]} << 32 | std::uint64_t{p[5]} << 40 | std::uint64_t{p[6]} << 48 | std::uint64_t{p[7]} << 56;
}

inline float load_f32(const std::uint8_t* p) {
  const std::uint32_t bits = load32(p);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void store16(std::uint8_t* p, std::uint16_t value) {
  p[0] = static_cast<std::uint8_t>(value);
  p[1] = static_cast<std::uint8_t>(value >> 8);
}

inline void store32(std::uint8_t* p, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

inline void store64(std::uint8_t* p, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

inline void store_f32(std::uint8_t* p, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  store32(p, bits);
}

// Reads the fields of a body in order. A read past the end returns zero or an empty string, and ok() is false from then
// on, so that a parser checks once: at the end, or before it uses a count.
class FieldReader {
 public:
  explicit FieldReader(ByteView body) : next_(body.data), left_(body.size) {}

  std::uint32_t u32() {
    const std::uint8_t* p = take(4);
    return p != nullptr ? load32(p) : 0;
  }

  float f32() {
    const std::uint8_t* p = take(4);
    return p != nullptr ? load_f32(p) : 0;
  }

  // A view into the body.
  std::string_view string() {
    const std::uint32_t size = u32();
    const std::uint8_t* p = take(size);
    return p != nullptr ? std::string_view(reinterpret_cast<const char*>(p), size) : std::string_view();
  }

  bool ok() const { return ok_; }
  std::size_t left() const { return left_; }
  bool complete() const { return ok_ && left_ == 0; }

 private:
  const std::uint8_t* take(std::size_t bytes) {
    if (!ok_ || bytes > left_) {
      ok_ = false;
      return nullptr;
    }
    const std::uint8_t* p = next_;
    next_ += bytes;
    left_ -= bytes;
    return p;
  }

  const std::uint8_t* next_;
  std::size_t left_;
  bool ok_ = true;
};

// Appends fields to a body. REQUIRES: strings shorter than 4 GiB, which the writer's limits ensure.
class FieldWriter {
 public:
  void u32(std::uint32_t value) {
    bytes_.resize(bytes_.size() + 4);
    store32(bytes_.data() + bytes_.size() - 4, value);
  }

  void f32(float value) {
    bytes_.resize(bytes_.size() + 4);
    store_f32(bytes_.data() + bytes_.size() - 4, value);
  }

  void string(std::string_view text) {
    u32(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }

  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

}  // namespace clbake::cache
