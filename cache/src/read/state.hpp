// What the copies of an opened Bundle share.
#pragma once

#include <clbake/cache/reader.hpp>

#include "read/layout.hpp"
#include "read/mapping.hpp"

namespace clbake::cache {

struct Bundle::State {
  // Where the bytes are, unless they are the caller's.
  Mapping mapping;
  Bytes copy;
  View view;
};

}  // namespace clbake::cache
