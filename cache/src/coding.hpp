// Numbers and strings as little-endian bytes. Byte by byte, to work at any alignment and on any host; compilers make
// one instruction of each load where they can.
#pragma once

#include <clbake/cache/model.hpp>

#include <cstring>
#include <string>
#include <type_traits>
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

// The fields of a body in order: numbers and enumerations of 32 bits, and strings. One description serves both ways:
//
//   template <typename Fields, typename T> void describe(Fields& fields, T& x) { fields(x.number, x.text); }
//
// Reads them. A read past the end gives zero or an empty string, and ok() is false from then on, so that a parser
// checks once: at the end, or before it uses a count.
class FieldReader {
 public:
  explicit FieldReader(ByteView body) : next_(body.data), left_(body.size) {}

  template <typename... T>
  void operator()(T&... values) {
    (read(values), ...);
  }

  bool ok() const { return ok_; }
  std::size_t left() const { return left_; }
  bool complete() const { return ok_ && left_ == 0; }

 private:
  template <typename T>
  void read(T& value) {
    const std::uint8_t* p = take(4);
    if constexpr (std::is_same_v<T, float>) {
      value = p != nullptr ? load_f32(p) : 0;
    } else {
      value = static_cast<T>(p != nullptr ? load32(p) : 0);
    }
  }

  void read(std::string& text) {
    std::uint32_t size = 0;
    read(size);
    const std::uint8_t* p = take(size);
    if (p != nullptr) text.assign(reinterpret_cast<const char*>(p), size);
  }

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

// Writes them. REQUIRES: strings shorter than 4 GiB, which the writer's limits ensure.
class FieldWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (write(values), ...);
  }

  Bytes take() { return std::move(bytes_); }

 private:
  template <typename T>
  void write(const T& value) {
    bytes_.resize(bytes_.size() + 4);
    std::uint8_t* p = bytes_.data() + bytes_.size() - 4;
    if constexpr (std::is_same_v<T, float>) {
      store_f32(p, value);
    } else {
      store32(p, static_cast<std::uint32_t>(value));
    }
  }

  void write(const std::string& text) {
    write(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }

  Bytes bytes_;
};

}  // namespace clbake::cache
