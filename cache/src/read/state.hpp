// Shared by the copies of an opened Bundle.
#pragma once

#include <clbake/cache/reader.hpp>

#include "read/layout.hpp"
#include "read/mapping.hpp"

namespace clbake::cache {

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
