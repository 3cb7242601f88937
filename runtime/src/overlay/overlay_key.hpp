// What an overlay's entry is found by.
#pragma once

#include <clbake/cache/model.hpp>

#include <string>

namespace clbake {

// A variant of one source on one device with one driver.
struct OverlayKey {
  cache::Target target;
  cache::Source source;
  cache::Variant variant;  // its index of a source means nothing
  std::string hash;        // of all of these, 32 hexadecimal digits: the begin of the names of its files
};

OverlayKey overlay_key(cache::Target target, cache::Source source, cache::Variant variant);

// 16 digits, lower case.
std::string hexadecimal(std::uint64_t number);

}  // namespace clbake
