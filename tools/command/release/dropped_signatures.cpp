#include "command/release/dropped_signatures.hpp"

#include "cli/cli.hpp"

#include <cstdio>
#include <utility>

namespace clbake::tool {
namespace {

std::size_t signatures_in_file(const std::string& file) {
  const Result<Bundle> bundle = Bundle::open(file);
  return bundle ? signatures_in(*bundle) : 0;
}

}  // namespace

std::size_t signatures_in(const cache::Bundle& bundle) {
  const Result<std::vector<cache::Signature>> signatures = bundle.signatures();
  return signatures ? signatures->size() : 0;
}

void tell_of_dropped(const char* verb, const std::string& output, std::size_t dropped) {
  if (dropped == 0) return;
  std::fprintf(stderr, "clbake %s: %s is not signed any more: %s not hold for it ('clbake sign')\n", verb,
               output.c_str(), (counted(dropped, "signature") + (dropped == 1 ? " does" : " do")).c_str());
}

DroppedSignatures::DroppedSignatures(const char* verb, std::string file)
    : verb_(verb), file_(std::move(file)), before_(signatures_in_file(file_)) {}

std::size_t DroppedSignatures::tell() const {
  const std::size_t after = before_ > 0 ? signatures_in_file(file_) : 0;
  const std::size_t dropped = before_ > after ? before_ - after : 0;
  tell_of_dropped(verb_, file_, dropped);
  return dropped;
}

}  // namespace clbake::tool
