// A remark of verbs that write a bundle in the place of, or from, signed ones: the signatures are of other contents.
#pragma once

#include <cstddef>
#include <string>

namespace clbake::tool {

// The number of signatures of a bundle; 0 where they cannot be read.
std::size_t signatures_in(const std::string& file);

// After `file` was written from what had `before` signatures: the number of those that it has no more. Says so on
// stderr.
std::size_t tell_of_dropped(const char* verb, const std::string& file, std::size_t before);

}  // namespace clbake::tool
