// The parts that the pictures of this folder are made of.
#pragma once

#include <string>

namespace clbake::tool {

// Text as XML: no markup, and none of the control characters that XML does not have.
std::string escaped(const std::string& text);

std::string number(double value, int digits);

// Elements, each on a line of its own; positions in user units.
std::string text_at(double x, double y, const char* classes, const std::string& text);
std::string line(double x1, double y1, double x2, double y2, const char* classes);

}  // namespace clbake::tool
