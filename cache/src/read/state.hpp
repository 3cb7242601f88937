// What the copies of an opened Bundle share.
#pragma once

#include <clbake/cache/reader.hpp>

#include "read/layout.hpp"
#include "read/mapping.hpp"

namespace clbake::cache {

struct Bundle::State {
  // Own the bytes, unless the caller does.
  Mapping mapping;
  Bytes copy;
  BundleView view;
};

}  // namespace clbake::cache
