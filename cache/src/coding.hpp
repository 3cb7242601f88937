// Numbers and strings as little-endian bytes, at any alignment. Not for hosts of another order.
#pragma once

#include <clbake/cache/model.hpp>

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace clbake::cache {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

template <typename T>
T load(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
inline std::uint16_t load16(const std::uint8_t* p) { return load<std::uint16_t>(p); }
inline std::uint32_t load32(const std::uint8_t* p) { return load<std::uint32_t>(p); }
inline std::uint64_t load64(const std::uint8_t* p) { return load<std::uint64_t>(p); }

template <typename T>
void store(std::uint8_t* p, T value) {
  std::memcpy(p, &value, sizeof value);
}
inline void store16(std::uint8_t* p, std::uint16_t value) { store(p, value); }
inline void store32(std::uint8_t* p, std::uint32_t value) { store(p, value); }
inline void store64(std::uint8_t* p, std::uint64_t value) { store(p, value); }

// The fields of a record in order, each as many bytes as its type has.
struct LoadFields {
  const std::uint8_t* at;
  template <typename... T>
  void operator()(T&... values) {
    ((values = load<T>(at), at += sizeof values), ...);
  }
};
struct StoreFields {
  std::uint8_t* at;
  template <typename... T>
  void operator()(const T&... values) {
    ((store(at, values), at += sizeof values), ...);
  }
};

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
    using Stored = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
    value = static_cast<T>(p != nullptr ? load<Stored>(p) : Stored());
  }

  void read(ContentDigest& digest) {
    const std::uint8_t* p = take(digest.size());
    if (p != nullptr) std::memcpy(digest.data(), p, digest.size());
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
    store(p, static_cast<std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>>(value));
  }

  void write(const ContentDigest& digest) { bytes_.insert(bytes_.end(), digest.begin(), digest.end()); }

  void write(const std::string& text) {
    write(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }

  Bytes bytes_;
};

}  // namespace clbake::cache
