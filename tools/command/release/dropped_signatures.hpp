// A remark of verbs that write a bundle in the place of, or from, signed ones: the signatures are of other contents.
#pragma once

#include <clbake/cache/reader.hpp>

#include <string>

namespace clbake::tool {

// The number of signatures; 0 where they cannot be read.
std::size_t signatures_in(const cache::Bundle& bundle);

// One line on stderr, if any was dropped.
void tell_of_dropped(const char* verb, const std::string& output, std::size_t dropped);

// For a verb that changes a file in its place.
class DroppedSignatures {
 public:
  DroppedSignatures(const char* verb, std::string file);

  // The number of signatures that were dropped since; says so.
  std::size_t tell() const;

 private:
  const char* verb_;
  std::string file_;
  std::size_t before_;
};

}  // namespace clbake::tool
