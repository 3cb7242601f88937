// The parts that the copies of an opened Bundle share.
#pragma once

#include <clbake/cache/reader.hpp>

#include "read/layout.hpp"

#include <string>

namespace clbake::cache {

// A file mapped read-only for as long as the object lives.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // A relative path is resolved against `directory`, an open file descriptor. Fails with not_found when there is no
  // such file, else with io. The message does not name the path.
  static Result<Mapping> of_file(int directory, const std::string& path);

  ByteView bytes() const { return bytes_; }

 private:
  explicit Mapping(ByteView bytes) : bytes_(bytes) {}
  ByteView bytes_;  // empty for an empty file, which cannot be mapped
};

struct Bundle::State {
  // Own the bytes, unless the caller does.
  Mapping mapping;
  Bytes copy;
  // Under a guard: the bundle that owns the bytes, and what the view refers to.
  std::shared_ptr<const State> original;
  Bytes index;
  std::shared_ptr<const Guard> guard;
  BundleView view;
};

}  // namespace clbake::cache
