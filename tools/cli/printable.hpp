// Text of drivers and files, made fit for a terminal and for XML.
#pragma once

#include <string>

namespace clbake::tool {

// With '?' for each byte that is not UTF-8, and for each control character, U+FFFE and U+FFFF.
std::string printable(const std::string& text);

// The same without markup, for an attribute or a text of XML.
std::string escaped(const std::string& text);

}  // namespace clbake::tool
