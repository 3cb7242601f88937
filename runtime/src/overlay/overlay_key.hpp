// Identity of an overlay's entry.
#pragma once

#include <clbake/cache/model.hpp>

#include <string>

namespace clbake {

// A variant of one source on one device with one driver.
struct OverlayKey {
  cache::Target target;
  cache::Source source;
  cache::Variant variant;  // its `source` is ignored
  std::string hash;        // of all of these, 32 hexadecimal digits: its file names begin with it
};

// `scope`: of Trust, so that libraries of different policies have different files; empty without trust.
OverlayKey overlay_key(cache::Target target, cache::Source source, cache::Variant variant,
                       const std::string& scope = {});

// 16 digits, lower case.
std::string hexadecimal(std::uint64_t number);

}  // namespace clbake
