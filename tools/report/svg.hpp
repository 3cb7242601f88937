// The parts that the pictures of this folder are made of.
#pragma once

#include <string>

namespace clbake::tool {

std::string number(double value, int digits);

// Elements, each on a line of its own; positions in user units.
std::string text_at(double x, double y, const char* classes, const std::string& text);
std::string line(double x1, double y1, double x2, double y2, const char* classes);

}  // namespace clbake::tool
