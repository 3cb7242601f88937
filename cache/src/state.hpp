// What the copies of an opened Bundle share.
#pragma once

#include <clbake/cache/reader.hpp>

#include "layout.hpp"
#include "mapping.hpp"

namespace clbake::cache {

struct Bundle::State {
  Mapping mapping;  // empty when the bytes are the caller's
  View view;
};

}  // namespace clbake::cache
