#include "command/release/dropped_signatures.hpp"

#include "cli/cli.hpp"

#include <cstdio>

namespace clbake::tool {

std::size_t signatures_in(const std::string& file) {
  const Result<Bundle> bundle = Bundle::open(file);
  if (!bundle) return 0;
  const Result<std::vector<cache::Signature>> signatures = bundle->signatures();
  return signatures ? signatures->size() : 0;
}

std::size_t tell_of_dropped(const char* verb, const std::string& file, std::size_t before) {
  const std::size_t after = before > 0 ? signatures_in(file) : 0;
  if (before <= after) return 0;
  const std::size_t dropped = before - after;
  std::fprintf(stderr, "clbake %s: %s is not signed any more: %s not hold for it ('clbake sign')\n", verb, file.c_str(),
               (counted(dropped, "signature") + (dropped == 1 ? " does" : " do")).c_str());
  return dropped;
}

}  // namespace clbake::tool
