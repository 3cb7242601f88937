// The parts of a proof's note that reports quote. A note is text for people: parts, separated by "; ".
#pragma once

#include <clbake/cache/model.hpp>

#include <string>
#include <vector>

namespace clbake::builder {

inline constexpr const char* kNotJitFree = "not JIT-free: ";
inline constexpr const char* kNotListed = "kernels that the manifest does not list: ";

// The part of the note that begins with the mark, without it; empty when there is none.
std::string part_of(const std::string& note, const std::string& mark);

// The part of the note about those of the program's kernels that its manifest does not list; empty when there are none.
std::string not_listed(const std::vector<std::string>& kernels, const cache::Variant& program);

}  // namespace clbake::builder
