// Names for contents.
#pragma once

#include <string>
#include <vector>

namespace clbake::builder::process {

// XXH64 of the bytes, as 16 hexadecimal digits.
std::string digest(const std::string& bytes);

// The same of a list of texts: differs, too, when the same characters are divided among the texts in another way.
std::string digest(const std::vector<std::string>& texts);

}  // namespace clbake::builder::process
